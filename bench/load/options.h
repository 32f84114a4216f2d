// The command line of qq_load.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace qq::bench {

struct Options {
  std::uint16_t port = 0;
  std::string path = "/v1/chat/completions";
  std::string model = "bench-model";
  std::string key;                   // sent as a bearer token
  std::vector<std::string> headers;  // further header lines, "name: value"
  int connections = 64;
  std::size_t body_bytes = 1024;
  bool stream = false;
  std::int64_t ramp = 0;      // the connections start evenly over this time; ns
  std::int64_t warm_up = 0;   // not measured; ns
  std::int64_t duration = 0;  // the measuring window; ns
  double rate = 0;            // requests a second with Poisson arrivals; 0 is a closed loop
  // In turns with other generators: only in every `turns`-th piece of time, from the `turn`-th on. 0: always.
  int turns = 0;
  int turn = 0;
  std::int64_t turn_length = 0;  // ns
  std::uint64_t requests = 0;    // stop after so many instead of after a time
  pid_t pid = 0;                 // whose processor time and memory to measure, children included
  bool wait_only = false;        // return as soon as the port answers, and print when that was
};

// Exits with the usage on a mistake.
Options parse_options(int argc, char** argv);

}  // namespace qq::bench
