#include "dialects/embeddings/tasks.h"

#include <algorithm>
#include <array>

namespace qq::dialects::embeddings {
namespace {

struct Task {
  std::string_view cohere;
  std::string_view google;
};
// A query of one kind is a query for Cohere; similarity has no word there.
constexpr std::array kTasks{Task{"search_document", "RETRIEVAL_DOCUMENT"},
                            Task{"search_query", "RETRIEVAL_QUERY"},
                            Task{"classification", "CLASSIFICATION"},
                            Task{"clustering", "CLUSTERING"},
                            Task{"search_query", "QUESTION_ANSWERING"},
                            Task{"search_query", "FACT_VERIFICATION"},
                            Task{"search_query", "CODE_RETRIEVAL_QUERY"},
                            Task{"", "SEMANTIC_SIMILARITY"},
                            Task{"", "TASK_TYPE_UNSPECIFIED"}};

}  // namespace

std::string_view cohere_task(std::string_view task) noexcept {
  const auto* const found = std::ranges::find(kTasks, task, &Task::google);
  return found == kTasks.end() ? task : found->cohere;
}

std::string_view google_task(std::string_view task) noexcept {
  const auto* const found = task.empty() ? kTasks.end() : std::ranges::find(kTasks, task, &Task::cohere);
  return found == kTasks.end() ? task : found->google;
}

}  // namespace qq::dialects::embeddings
