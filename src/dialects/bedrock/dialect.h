// Amazon Bedrock's Converse, as a provider: POST /model/{id}/converse and /converse-stream. The model is in
// the URL; a stream comes in AWS's frames (wire/aws_frames.h).
//
// Sources: docs.aws.amazon.com/bedrock, "Converse", "ConverseStream" and the types they name; "Structured
// outputs"; "Prompt caching"; docs.aws.amazon.com/nova, "Extended thinking". Claude's own rules are those of
// dialects/anthropic, whose history, thinking and sampling are used here. What is decided here:
//   - Turns are joined and begin with the user's, results stand first, blank texts are left out: as for
//     Anthropic. Ids of calls have at most 64 letters.
//   - toolConfig must be there once the history calls a tool: tools that only the history knows are declared.
//     Converse cannot forbid calls: "none" leaves the tools out unless the history needs them.
//   - Effort is said in each family's own words (families.h); a family without any loses it.
//   - Schemas go into outputConfig for families that take them, and into the system prompt for the others.
//   - Cache marks become cachePoint blocks for Claude and Nova, the last four of them.
//   - Media travel inside the request or lie in S3 (an "s3://" URL): Converse fetches nothing else.
//   - `guardrailConfig` and `performanceConfig`, which no other dialect has, go on as the caller wrote them.
//   - Answers: what Bedrock's own tools do and what is new are opaque parts; a trace, metrics and the like
//   are
//     ExtraFields of whole answers ("trace", "metrics") and are left out of streams.
#pragma once
#include "dialects/dialect.h"
#include "dialects/fields.h"

namespace qq::dialects::bedrock {

const ProviderDialect& provider_side() noexcept;

// What requests for a target of this dialect keep. Not in the table, for it depends on the values: sampling
// beside thinking, blank stop strings, cache marks by family and number, efforts by family, tool choices,
// metadata that AWS does not take, service tiers, kinds of files.
SupportTable support() noexcept;

}  // namespace qq::dialects::bedrock
