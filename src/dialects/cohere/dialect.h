// Cohere's chat, as a provider: POST /v2/chat, answers whole and as SSE.
//
// Source: docs.cohere.com/reference/chat and chat-stream; docs.cohere.com/docs, "Structured Outputs", "Tool
// use", "Reasoning". What is decided here:
//   - A tool plan (what the model says before it calls) is a thought with a state, so that it goes back as
//   the
//     plan of its turn. Other thoughts go back where the model thinks (Target::reasons).
//   - One tool that must be called is sent alone and "REQUIRED"; of several, those and no others.
//   - JSON answers give way to tools, which Cohere refuses beside them.
//   - Files of text become text; what else a file is has no place. What a result shows follows in a user's
//     message.
//   - Usage is what was read and written (`usage.tokens`); what is billed (`usage.billed_units`) is an
//     ExtraField of whole answers. Images are counted apart.
//   - A citation belongs to the text part that it names; citations of a plan or a thought are left out.
#pragma once
#include "dialects/dialect.h"
#include "dialects/fields.h"

namespace qq::dialects::cohere {

const ProviderDialect& provider_side() noexcept;

// What requests for a target of this dialect keep. Not in the table, for it depends on the values: sampling
// outside Cohere's ranges, more than five stop strings, efforts, JSON beside tools, some strict tools among
// others, files, thoughts.
SupportTable support() noexcept;

}  // namespace qq::dialects::cohere
