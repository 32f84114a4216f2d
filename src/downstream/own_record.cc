#include "downstream/own_record.h"

namespace qq::downstream {

void record_own(relay::LoopServices& services, const relay::ClientPort& client, const OwnRequest& own,
                int status, const Error* error) {
  relay::RequestRecord record;
  record.request_id = own.id.text();
  record.method = std::string_view(own.what).substr(0, own.what.find(' '));
  if (own.what.size() > record.method.size())
    record.path = std::string_view(own.what).substr(record.method.size() + 1);
  if (own.key != nullptr) {
    record.key_name = own.key->name;
    record.owner = own.key->owner;
  }
  if (error != nullptr) record.error = *error;
  record.status = status;
  record.wall_started = own.wall_started;
  record.started = own.started;
  record.ended = services.loop.precise_now();
  record.bytes_from_client = own.body_bytes;
  record.client_wait = client.client_wait();
  record.bytes_to_client = client.bytes_written();
  record.config_generation = own.config_generation;
  services.observer.request_ended(record);
}

}  // namespace qq::downstream
