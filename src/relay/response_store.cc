#include "relay/response_store.h"

#include <fmt/format.h>

namespace qq::relay {
namespace {

constexpr std::size_t kEntryBytes = 512;
constexpr std::size_t kItemBytes = 128;

// A client's text in a message is kept short, since ids are; the rest says nothing.
std::string_view shortened(std::string_view id) noexcept {
  constexpr std::size_t kShown = 128;
  std::size_t end = std::min(id.size(), kShown);
  // Not inside of a character.
  while (end > 0 && end < id.size() && (static_cast<unsigned char>(id[end]) & 0xC0U) == 0x80U) --end;
  return id.substr(0, end);
}

Error not_found(std::string_view what, std::string_view id) {
  Error error =
      Error::client(ErrorKind::NotFound, fmt::format("{} with id '{}' not found.", what, shortened(id)));
  error.type = "invalid_request_error";
  return error;
}

}  // namespace

std::size_t bytes_of(const StoredResponse& response) noexcept {
  std::size_t ids = 0;
  for (const std::string& id : response.item_ids) ids += kItemBytes + id.size();
  return kEntryBytes + ids + response.id.size() + response.model.size() + response.response.size() +
         response.input.size() + response.previous_id.size() + response.conversation_id.size();
}

std::size_t bytes_of(const Conversation& conversation) noexcept {
  return kEntryBytes + conversation.id.size() + conversation.metadata.size();
}

std::size_t bytes_of(const ConversationItem& item) noexcept {
  return kItemBytes + item.id.size() + item.json.size();
}

std::size_t bytes_of(const std::vector<ConversationItem>& items) noexcept {
  std::size_t bytes = 0;
  for (const ConversationItem& item : items) bytes += bytes_of(item);
  return bytes;
}

Error response_not_found(std::string_view id) {
  return not_found("Response", id);
}

Error conversation_not_found(std::string_view id) {
  return not_found("Conversation", id);
}

Error item_not_found(std::string_view id) {
  return not_found("Item", id);
}

Error id_taken(std::string_view id) {
  Error error = Error::client(
      ErrorKind::InvalidRequest,
      fmt::format("the id '{}' is there already; leave it out, and one is made", shortened(id)));
  error.type = "invalid_request_error";
  return error;
}

Error entry_too_large(std::size_t bytes, std::size_t most) {
  Error error = Error::client(
      ErrorKind::PayloadTooLarge,
      fmt::format(
          "{} bytes to be kept are more than the {} that one entry may have (storage.responses.entry_max)",
          bytes, most));
  error.type = "invalid_request_error";
  return error;
}

}  // namespace qq::relay
