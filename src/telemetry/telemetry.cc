#include "telemetry/telemetry.h"

#include "base/assert.h"
#include "telemetry/log/json_line.h"
#include "telemetry/log/log_writer.h"
#include "telemetry/log/request_log.h"
#include "telemetry/log/timestamp.h"
#include "telemetry/metrics/loop_metrics.h"

namespace qq::telemetry {
namespace {

#if defined(__clang__)
constexpr std::string_view kCompiler = "clang " __clang_version__;
#else
constexpr std::string_view kCompiler = "g++ " __VERSION__;
#endif

std::size_t index_of(int loop) {
  return static_cast<std::size_t>(loop);
}

}  // namespace

class Telemetry::LoopObserver final : public relay::RequestObserver {
 public:
  LoopObserver(LogWriter& writer, std::size_t ring, const std::atomic<Level>& level)
      : log_(writer, ring, level) {}

  void request_ended(const relay::RequestRecord& record) noexcept override {
    metrics_.count(record);
    log_.write(record);
  }

  std::atomic<const relay::LoopCounters*> counters{nullptr};
  [[nodiscard]] const LoopMetrics& metrics() const noexcept { return metrics_; }

 private:
  LoopMetrics metrics_;
  RequestLog log_;
};

Telemetry::Telemetry(Options options) : version_(std::move(options.version)), level_(options.level) {
  QQ_ASSERT(options.loops >= 1);
  LogSink sink = options.log_path.empty() ? LogSink::to_descriptor(options.log_fd)
                                          : LogSink::to_file(std::move(options.log_path));
  const std::size_t loops = index_of(options.loops);
  writer_ = std::make_unique<LogWriter>(std::move(sink), loops + 1);  // the last ring is the life-cycle's
  for (std::size_t i = 0; i < loops; ++i) {
    observers_.push_back(std::make_unique<LoopObserver>(*writer_, i, level_));
  }
}

Telemetry::~Telemetry() {
  stop();
}

relay::RequestObserver& Telemetry::observer(int loop) {
  return *observers_.at(index_of(loop));
}

void Telemetry::attach(int loop, const relay::LoopCounters* counters) {
  observers_.at(index_of(loop))->counters.store(counters, std::memory_order_release);
}

std::string Telemetry::render_metrics(const ScrapeFacts& scrape) const {
  std::vector<LoopView> loops;
  for (const auto& observer : observers_) {
    loops.push_back({&observer->metrics(), observer->counters.load(std::memory_order_acquire)});
  }
  return render(loops, scrape, {version_, kCompiler, log_lines_dropped()});
}

void Telemetry::log_event(Level level, std::string_view message, std::initializer_list<Field> fields) {
  if (level < level_.load(std::memory_order_relaxed)) return;
  const std::scoped_lock lock(events_);
  Timestamp timestamp;
  JsonLine line;
  line.begin();
  line.text("ts", timestamp.text(std::chrono::system_clock::now()));
  line.text("level", to_string(level));
  line.redacted_text("msg", message);
  for (const Field& field : fields) {
    if (const auto* text = std::get_if<std::string_view>(&field.value)) {
      line.redacted_text(field.name, *text, JsonLine::kEventValueMax);
    } else if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
      line.integer(field.name, *number);
    } else {
      line.boolean(field.name, std::get<bool>(field.value));
    }
  }
  writer_->push(observers_.size(), line.finish());
}

std::uint64_t Telemetry::log_lines_dropped() const noexcept {
  return writer_->dropped();
}

void Telemetry::reopen_log() noexcept {
  writer_->reopen();
}

void Telemetry::stop() noexcept {
  writer_->stop();
}

}  // namespace qq::telemetry
