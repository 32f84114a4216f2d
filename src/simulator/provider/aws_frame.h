// Writes AWS's event stream (wire/aws_frames.h says how a frame is made).
#pragma once
#include <string>
#include <string_view>

#include "simulator/provider/reply.h"

namespace qq::simulator {

enum class AwsMessage : std::uint8_t { Event, Exception };

// A frame of JSON. `name` is the event's type or the exception's.
std::string aws_frame(AwsMessage message, std::string_view name, std::string_view payload);

// Turns the pieces of the AWS forms from text into frames; other forms stay as they are.
void frame_events(Reply& reply);

}  // namespace qq::simulator
