// What an operator may choose as a client key: what a client can send in a header and the gateway looks up.
#pragma once
#include <string>
#include <string_view>

namespace qq::app::cli {

// Why no client could use this key, in words without the key; empty if one can.
std::string key_mistake(std::string_view key);

}  // namespace qq::app::cli
