// Cuts a stream's bytes into its events, so that each can be paced, counted and struck by a fault.
#pragma once
#include <string_view>
#include <vector>

#include "simulator/provider/reply.h"

namespace qq::simulator {

// The pieces joined are `body`. Whatever line ends it uses; what cannot be cut is one piece.
std::vector<Piece> cut_stream(std::string_view body, StreamForm form);

}  // namespace qq::simulator
