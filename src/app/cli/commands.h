// The commands that run and end. Each returns the exit code; the short form uses the process's own streams
// and environment.
#pragma once
#include "app/cli/command_line.h"
#include "app/cli/streams.h"
#include "config/expand.h"

namespace qq::app::cli {

int run_keys_new(const KeysNew& options);
int run_keys_new(const KeysNew& options, const config::Environment& environment, const Streams& streams);

int run_keys_hash(const KeysHash& options);
int run_keys_hash(const KeysHash& options, const config::Environment& environment, const Streams& streams);

int run_check(const CheckOptions& options);
int run_check(const CheckOptions& options, const config::Environment& environment, const Streams& streams);

int run_schema(const SchemaOptions& options);
int run_schema(const SchemaOptions& options, const Streams& streams);

int run_translate(const TranslateOptions& options);
int run_translate(const TranslateOptions& options, const Streams& streams);

int run_version(const VersionOptions& options);
int run_version(const VersionOptions& options, const Streams& streams);

}  // namespace qq::app::cli
