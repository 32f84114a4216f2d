// What a text is embedded for, in Cohere's words and in Google's.
#pragma once
#include <string_view>

namespace qq::dialects::embeddings {

// The word for `task`, of whichever of the two it is; empty if there is none. Words that neither knows are
// the provider's to judge, and stay.
std::string_view cohere_task(std::string_view task) noexcept;
std::string_view google_task(std::string_view task) noexcept;

}  // namespace qq::dialects::embeddings
