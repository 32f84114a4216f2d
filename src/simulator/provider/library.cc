#include "simulator/provider/library.h"

#include <algorithm>

namespace qq::simulator {

std::uint64_t request_fingerprint(Route route, std::string_view body) {
  std::vector<std::string> members;
  for (wire::JsonMembers at{wire::JsonValue(body)}; at.next();) {
    if (at.key_is("model") || at.key_is("stream_options")) continue;
    if (at.key_is("stream") && at.value().is_false()) continue;
    members.push_back(std::string(at.raw_key()) + ':' + compact_json(at.value().text()));
  }
  std::ranges::sort(members);
  std::uint64_t hash = stable_hash(to_string(route));
  for (const std::string& member : members) hash = stable_hash(member + '\n', hash);
  return hash;
}

Library::Library(std::vector<Recording> recordings) : recordings_(std::move(recordings)) {
  for (std::size_t i = 0; i < recordings_.size(); ++i) {
    const Recording& recording = recordings_[i];
    by_name_.emplace(recording.name, i);
    const std::string_view endpoint = recording.endpoint;
    const Route route = route_path(endpoint.substr(0, endpoint.find('?'))).route;
    if (route == Route::Unknown || !recording.request.starts_with('{')) continue;
    if (wire::check_json(recording.request)) continue;
    by_request_.emplace(request_fingerprint(route, recording.request), i);
  }
}

const Recording* Library::named(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &recordings_[found->second];
}

const Recording* Library::matching(Route route, std::string_view body, std::string_view model) const {
  if (by_request_.empty()) return nullptr;
  const auto [begin, end] = by_request_.equal_range(request_fingerprint(route, body));
  const Recording* any = nullptr;
  for (auto at = begin; at != end; ++at) {
    const Recording& recording = recordings_[at->second];
    if (recording.model == model) return &recording;
    if (any == nullptr || recording.name < any->name) any = &recording;
  }
  return any;
}

}  // namespace qq::simulator
