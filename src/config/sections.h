// The sections of the definition that have a file of their own; definition.cc puts them together.
#pragma once
#include "config/definition.h"

namespace qq::config {

const Section& provider_section();  // provider_sections.cc, with accounts and limit groups
const Section& adapter_section();   // adapter_sections.cc, with all that describes a private back end
const Section& model_section();     // provider_sections.cc
const Section& route_section();     // route_sections.cc, with candidates and retries
const Section& storage_section();   // storage_section.cc

}  // namespace qq::config
