#include "simulator/provider/control.h"

#include <fmt/format.h>

#include "simulator/provider/vendor_errors.h"

namespace qq::simulator {
namespace {

Reply done() {
  return Reply::json(200, "{\"ok\":true}");
}

Reply refused(int status, std::string message) {
  VendorError error;
  error.status = status;
  error.message = std::move(message);
  return error_reply(error);
}

Reply recordings_page(const Library& library) {
  std::string out = "{\"recordings\":[";
  for (std::size_t i = 0; i < library.all().size(); ++i) {
    if (i > 0) out += ',';
    wire::append_json_string(out, library.all()[i].name);
  }
  return Reply::json(200, out + "]}");
}

Reply faults_page() {
  std::string out = "{\"faults\":[";
  for (std::size_t i = 0; i < static_cast<std::size_t>(Fault::Count_); ++i) {
    if (i > 0) out += ',';
    wire::append_json_string(out, to_string(static_cast<Fault>(i)));
  }
  return Reply::json(200, out + "]}");
}

Reply change_listener(ProviderSimulator& simulator, std::string_view query) {
  if (!simulator.has_extra()) return refused(409, "there is no second port; start with --fault-listen ADDR");
  if (query == "open=false") {
    simulator.close_extra();
    return done();
  }
  if (query != "open=true") return refused(400, "say ?open=true or ?open=false");
  if (const auto opened = simulator.open_extra(); !opened) return refused(500, opened.error().message);
  return done();
}

Reply change_scenario(ProviderSimulator& simulator, std::string_view body) {
  auto scenario = Scenario::parse(body);
  if (!scenario) return refused(400, scenario.error().message);
  simulator.set_scenario(*std::move(scenario));
  return done();
}

}  // namespace

Reply control_page(ProviderSimulator& simulator, const wire::RequestHead& head, std::string_view body) {
  const std::string_view path = head.path();
  if (head.method == "GET") {
    if (path == "/healthz") return done();
    if (path == "/sim/stats") return Reply::json(200, simulator.statistics().json());
    if (path == "/sim/requests") return Reply::json(200, simulator.statistics().requests_json());
    if (path == "/sim/recordings") return recordings_page(simulator.library());
    if (path == "/sim/faults") return faults_page();
  } else if (head.method == "POST") {
    if (path == "/sim/reset") {
      simulator.reset();
      return done();
    }
    if (path == "/sim/scenario") return change_scenario(simulator, body);
    if (path == "/sim/listener") return change_listener(simulator, head.query());
  }
  return refused(404,
                 "pages here: GET /sim/stats, /sim/requests, /sim/recordings, /sim/faults; POST /sim/reset, "
                 "/sim/scenario, /sim/listener?open=true|false");
}

}  // namespace qq::simulator
