// The checks that look at more than one key, after the definition table has had its say.
#pragma once
#include "config/config.h"
#include "config/diagnostic.h"
#include "config/places.h"

namespace qq::config {

// Fills in what an absent key takes from others: a key's owner, a model's upstream name, a route's picker.
void complete(Config& config, const Places& places);

// Names exist and are unique, provider kinds are known, URLs and addresses and key hashes are well-formed,
// numbers fit together.
void check(const Config& config, const Places& places, Diagnostics& out);

}  // namespace qq::config
