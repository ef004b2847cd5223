#include "frontends/c/weir.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "backends/real/session/session.h"
#include "core/base/version.h"

namespace {

using weir::real::Outcome;
using weir::real::Session;
using weir::real::SessionError;
using weir::real::SessionSettings;
using weir::real::SessionStatus;

static_assert(static_cast<int>(SessionStatus::kInvalid) == WEIR_INVALID);
static_assert(static_cast<int>(SessionStatus::kState) == WEIR_STATE);
static_assert(static_cast<int>(SessionStatus::kMismatch) == WEIR_MISMATCH);
static_assert(static_cast<int>(SessionStatus::kLost) == WEIR_LOST);
static_assert(static_cast<int>(SessionStatus::kTimeout) == WEIR_TIMEOUT);
static_assert(static_cast<int>(SessionStatus::kSystem) == WEIR_SYSTEM);
static_assert(static_cast<int>(weir::Dtype::kF16) == WEIR_F16);
static_assert(static_cast<int>(weir::Dtype::kI64) == WEIR_I64);

thread_local std::string
    last_error;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): weir_error()

weir_status failed(weir_status status, std::string text) {
  last_error = std::move(text);
  return status;
}

weir_status failed(const SessionError& error) {
  return failed(static_cast<weir_status>(error.status), error.text);
}

// The one session of this process.
class Holder {
 public:
  std::shared_ptr<Session> get() const {
    const std::lock_guard lock(mutex_);
    return session_;
  }
  void set(std::shared_ptr<Session> session) {
    const std::lock_guard lock(mutex_);
    session_ = std::move(session);
    process_ = getpid();
  }
  // The process that has joined.
  pid_t process() const {
    const std::lock_guard lock(mutex_);
    return process_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Session> session_;
  pid_t process_ = -1;
};

Holder& holder() {
  // Never destroyed, because threads of a framework may still call while the process ends.
  static Holder* const one = new Holder;  // NOLINT(cppcoreguidelines-owning-memory)
  return *one;
}

// Makes the call. No exception leaves the library.
template <class Call>
weir_status guarded(const Call& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    return failed(WEIR_SYSTEM, error.what());
  }
}

template <class Call>
weir_status with_session(const Call& call) {
  return guarded([&] {
    const std::shared_ptr<Session> session = holder().get();
    if (!session) return failed(WEIR_STATE, "there is no session; call weir_init() first");
    if (holder().process() != getpid())
      return failed(WEIR_STATE,
                    "this process is a fork of a rank, not a rank: the rank's threads are missing");
    return call(*session);
  });
}

template <class T, class Take>
weir_status taken(const Outcome<T>& outcome, const Take& take) {
  if (!outcome) return failed(outcome.error());
  take(*outcome);
  return WEIR_OK;
}

weir_status status_of(const Outcome<void>& outcome) { return outcome ? WEIR_OK : failed(outcome.error()); }

std::optional<std::string> environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): read alone
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

weir::Result<SessionSettings> settings_of(const char* json, bool server) {
  return weir::real::read_session_settings(json == nullptr ? "" : json, environment, server);
}

// The most elements of a tensor. Few enough that byte counts cannot overflow.
constexpr int64_t kMostElements = 1'000'000'000'000;

bool is_count(int64_t elements) { return elements >= 0 && elements <= kMostElements; }

bool is_dtype(int32_t dtype) { return dtype >= WEIR_F16 && dtype <= WEIR_I64; }

weir_status in_host_memory(int32_t device, const void* stream) {
  if (device == -1 && stream == nullptr) return WEIR_OK;
  return failed(WEIR_INVALID, "device: expected -1 and no stream, as the bytes must lie in host memory");
}

// The arguments of a function that hands a tensor over.
struct Handed {
  const char* name;
  const void* in;
  const void* out;
  int64_t elements;
  int32_t dtype;
  const char* kind;
  int32_t device;
  const void* stream;
  const weir_handle* handle;
};

weir_status check(const Handed& handed, const char* arrays) {
  if (handed.device < -1 || (handed.device == -1 && handed.stream != nullptr))
    return failed(WEIR_INVALID,
                  fmt::format("device {}: expected a GPU of this host, or -1 and no stream", handed.device));
  if (!is_count(handed.elements) || !is_dtype(handed.dtype))
    return failed(WEIR_INVALID, fmt::format("{} elements of type {}; expected 0 to 10^12, and 0 to 5",
                                            handed.elements, handed.dtype));
  if (handed.handle == nullptr || (handed.elements > 0 && (handed.in == nullptr || handed.out == nullptr)))
    return failed(WEIR_INVALID, fmt::format("{} and handle must not be NULL", arrays));
  return WEIR_OK;
}

const char* or_empty(const char* text) { return text == nullptr ? "" : text; }

weir::TensorNote note_of(const Handed& handed) {
  weir::TensorNote note;
  note.name = or_empty(handed.name);
  note.elements = handed.elements;
  note.dtype = static_cast<weir::Dtype>(handed.dtype);
  note.kind = or_empty(handed.kind);
  return note;
}

// `ranks` is as in TensorNote.
weir_status declare(Session& session, const weir_tensor* tensors, int64_t count,
                    const std::vector<int>& ranks) {
  if (count < 0 || (count > 0 && tensors == nullptr)) return failed(WEIR_INVALID, "tensors: there are none");
  std::vector<weir::TensorNote> notes;
  for (int64_t i = 0; i < count; ++i) {
    const weir_tensor& tensor = tensors[i];
    if (tensor.name == nullptr || *tensor.name == '\0')
      return failed(WEIR_INVALID, fmt::format("tensor {} of {} has no name", i, count));
    if (!is_count(tensor.elements) || !is_dtype(tensor.dtype) || (tensor.flags & ~WEIR_KEPT) != 0) {
      return failed(
          WEIR_INVALID,
          fmt::format(
              "tensor '{}': {} elements of type {}, flags {}; expected 0 to 10^12, 0 to 5, 0 or WEIR_KEPT",
              tensor.name, tensor.elements, tensor.dtype, tensor.flags));
    }
    notes.push_back({tensor.name, tensor.elements, static_cast<weir::Dtype>(tensor.dtype), tensor.priority,
                     tensor.flags == WEIR_KEPT, ranks, or_empty(tensor.kind)});
  }
  return status_of(session.declare(notes));
}

}  // namespace

int32_t weir_abi_version(void) { return WEIR_ABI_VERSION; }

const char* weir_version(void) { return weir::version().data(); }

const char* weir_error(void) { return last_error.c_str(); }

weir_status weir_init(const char* settings) {
  return guarded([&] {
    if (holder().get()) return failed(WEIR_STATE, "there is a session already; call weir_shutdown() first");
    const auto read = settings_of(settings, false);
    if (!read) return failed(WEIR_INVALID, read.error().text);
    auto session = Session::join(*read, std::string(weir::version()));
    if (!session) return failed(session.error());
    holder().set(std::move(*session));
    return WEIR_OK;
  });
}

weir_status weir_serve(const char* settings) {
  return guarded([&] {
    const auto read = settings_of(settings, true);
    if (!read) return failed(WEIR_INVALID, read.error().text);
    return status_of(weir::real::serve_session(*read, std::string(weir::version())));
  });
}

weir_status weir_shutdown(void) {
  return with_session([](Session& session) {
    const weir_status status = status_of(session.leave());
    holder().set(nullptr);
    return status;
  });
}

weir_status weir_abort(const char* why) {
  return with_session([&](Session& session) {
    session.abort(why == nullptr ? "it gives up" : why);
    return WEIR_OK;
  });
}

int32_t weir_is_initialized(void) { return holder().get() ? 1 : 0; }

int32_t weir_rank(void) {
  const auto session = holder().get();
  return session ? session->settings().role.number : -1;
}

int32_t weir_size(void) {
  const auto session = holder().get();
  return session ? session->settings().size : -1;
}

int32_t weir_local_rank(void) {
  const auto session = holder().get();
  return session ? session->settings().local_rank : -1;
}

int32_t weir_local_size(void) {
  const auto session = holder().get();
  return session ? session->settings().local_size : -1;
}

int32_t weir_servers(void) {
  const auto session = holder().get();
  return session ? session->settings().servers : -1;
}

int32_t weir_takes_gpus(void) { return weir::real::gpu_count() ? 1 : 0; }

weir_status weir_declare(const weir_tensor* tensors, int64_t count) {
  return with_session([&](Session& session) { return declare(session, tensors, count, {}); });
}

weir_status weir_declare_among(const weir_tensor* tensors, int64_t count, const int32_t* ranks,
                               int32_t rank_count) {
  return with_session([&](Session& session) {
    if (rank_count < 1 || ranks == nullptr) return failed(WEIR_INVALID, "ranks: there are none");
    std::vector<int> sorted(ranks, ranks + rank_count);
    std::sort(sorted.begin(), sorted.end());
    return declare(session, tensors, count, sorted);
  });
}

weir_status weir_push_pull(const char* name, const void* in, void* out, int64_t elements, int32_t dtype,
                           const char* kind, int32_t device, void* stream, weir_handle* handle) {
  return with_session([&](Session& session) {
    const Handed handed = {name, in, out, elements, dtype, kind, device, stream, handle};
    if (const weir_status wrong = check(handed, "in, out"); wrong != WEIR_OK) return wrong;
    return taken(session.push_pull(note_of(handed), in, out, {device, stream}),
                 [&](weir_handle made) { *handle = made; });
  });
}

weir_status weir_accumulate(const char* name, const void* delta, void* weights, int64_t elements,
                            int32_t dtype, int32_t device, void* stream, weir_handle* handle) {
  return with_session([&](Session& session) {
    const Handed handed = {name, delta, weights, elements, dtype, nullptr, device, stream, handle};
    if (const weir_status wrong = check(handed, "delta, weights"); wrong != WEIR_OK) return wrong;
    return taken(session.accumulate(note_of(handed), delta, weights, {device, stream}),
                 [&](weir_handle made) { *handle = made; });
  });
}

weir_status weir_broadcast(const char* name, void* data, int64_t bytes, const char* kind, int32_t root,
                           int32_t device, void* stream, weir_handle* handle) {
  return with_session([&](Session& session) {
    if (const weir_status where = in_host_memory(device, stream); where != WEIR_OK) return where;
    if (bytes < 0 || handle == nullptr || (bytes > 0 && data == nullptr))
      return failed(WEIR_INVALID, "data and handle must not be NULL, and bytes must not be negative");
    return taken(session.broadcast(or_empty(name), data, bytes, root, or_empty(kind)),
                 [&](weir_handle made) { *handle = made; });
  });
}

weir_status weir_poll(weir_handle handle, int32_t* done) {
  return with_session([&](Session& session) {
    if (done == nullptr) return failed(WEIR_INVALID, "done must not be NULL");
    return taken(session.poll(handle), [&](bool is) { *done = is ? 1 : 0; });
  });
}

weir_status weir_wait(weir_handle handle) {
  return with_session([&](Session& session) { return status_of(session.wait(handle)); });
}

weir_status weir_barrier(void) {
  return with_session([](Session& session) { return status_of(session.barrier()); });
}

weir_status weir_speed(double* bytes_per_second) {
  return with_session([&](Session& session) {
    if (bytes_per_second == nullptr) return failed(WEIR_INVALID, "bytes_per_second must not be NULL");
    *bytes_per_second = session.speed();
    return WEIR_OK;
  });
}
