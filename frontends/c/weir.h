/* Weir for training frameworks: sums tensors over all ranks of a training session, by the same plans that
 * Weir simulates and runs as experiments. Plain C, without headers of any framework.
 *
 * A session has ranks and CPU machines ("servers"). Ranks are processes that train; CPU machines only sum.
 * Each rank is one machine of the session's cluster. Rank 0's process leads the session, and all others
 * connect to it.
 *
 * Names: a tensor's name must mean the same tensor on every rank, with as many elements of the same dtype.
 * Ranks may declare and hand over tensors in any order. Each tensor is summed in its own rounds. In each
 * round every rank hands it over once, with the same kind (weir_push_pull()). Kept tensors
 * (weir_accumulate()) have no rounds: each rank adds to them whenever it likes.
 *
 * Threads: any thread may call any function once weir_init() has returned. While weir_init() or
 * weir_shutdown() runs, no other function may be called.
 *
 * Memory: threads of the library read and write the caller's tensors in place. Nobody else may touch a tensor
 * from the hand-over until weir_wait() has returned.
 *
 * Errors: functions return a status. weir_error() describes the calling thread's last error. After WEIR_LOST,
 * WEIR_TIMEOUT or WEIR_SYSTEM the session is over, and every function returns the same status on this rank.
 * Shut down and begin anew. Nothing hangs: every wait has a deadline (setting "patience").
 */
/* NOLINTBEGIN(modernize-deprecated-headers, readability-identifier-naming): it is read by C compilers too */
#ifndef WEIR_H
#define WEIR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WEIR_API __attribute__((visibility("default")))
#else
#define WEIR_API
#endif

/* Grows by one when a function or a struct changes so that callers must be adapted. */
#define WEIR_ABI_VERSION 4

typedef enum weir_status {
  WEIR_OK = 0,
  WEIR_INVALID = 1,  /* an argument or a setting is wrong; nothing has changed */
  WEIR_STATE = 2,    /* not initialised, already initialised, or a fork of the initialised process */
  WEIR_MISMATCH = 3, /* ranks disagree about a tensor; it is unusable now, but the session goes on */
  WEIR_LOST = 4,     /* a process of the session is dead, silent or has left */
  WEIR_TIMEOUT = 5,  /* a rank did not do its part in time */
  WEIR_SYSTEM = 6    /* the system refused something: memory, connections */
} weir_status;

typedef enum weir_dtype {
  WEIR_F16 = 0,
  WEIR_BF16 = 1,
  WEIR_F32 = 2,
  WEIR_F64 = 3,
  WEIR_I32 = 4,
  WEIR_I64 = 5
} weir_dtype;

/* Flags of a weir_tensor. */
typedef enum weir_flags {
  WEIR_KEPT = 1 /* CPU machines keep it; ranks add to it with weir_accumulate() */
} weir_flags;

typedef struct weir_tensor {
  const char* name; /* not empty */
  int64_t elements; /* 0 or more */
  int32_t dtype;    /* a weir_dtype */
  int32_t flags;    /* 0 or WEIR_KEPT */
  int64_t priority; /* larger is more urgent; counts among tensors that are declared together */
  const char* kind; /* as in weir_push_pull(); NULL for kept tensors */
} weir_tensor;

/* A tensor on its way; 0 means none. */
typedef int64_t weir_handle;

/* WEIR_ABI_VERSION of the library. */
WEIR_API int32_t weir_abi_version(void);
/* The library's version. Never NULL; do not free it. */
WEIR_API const char* weir_version(void);
/* Describes the calling thread's last failure; empty if there was none. Valid until the thread's next call.
 */
WEIR_API const char* weir_error(void);

/* Joins a session as a rank. Returns once all processes of the session have joined. `settings` is NULL or a
 * JSON object with any of these settings. They override the environment.
 *
 *   setting      environment, the first that is set
 *   rank         WEIR_RANK, RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID
 *   size         WEIR_SIZE, WORLD_SIZE, OMPI_COMM_WORLD_SIZE, SLURM_NTASKS     ranks of the session (1)
 *   local_rank   WEIR_LOCAL_RANK, LOCAL_RANK, OMPI_COMM_WORLD_LOCAL_RANK, SLURM_LOCALID
 *   local_size   WEIR_LOCAL_SIZE, LOCAL_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_SIZE, or in Slurm from
 *                SLURM_STEP_TASKS_PER_NODE, else SLURM_TASKS_PER_NODE, and SLURM_NODEID
 *   servers      WEIR_SERVERS       CPU machines of the session (0)
 *   leader       WEIR_LEADER        "HOST:PORT" where rank 0's process listens for the others
 *   secret       WEIR_SECRET        32 random bytes in hexadecimal, the same for all processes
 *   listen       WEIR_LISTEN        this host's address at which peers find this process (127.0.0.1 if the
 *                                   leader has a loopback address, else required)
 *   strategy     WEIR_STRATEGY      how tensors are summed; docs/pytorch.md has the names and the default.
 *                                   Rank 0's counts.
 *   topology     WEIR_TOPOLOGY      a topology file. Its GPU machines are the ranks, its CPU machines the
 *                                   servers, in order (machines with equal NICs). Rank 0's counts.
 *   settings     WEIR_SETTINGS      a file of options, as weir tune writes it. Rank 0's counts.
 *   options      WEIR_OPTIONS       JSON object: the strategy's options, as in experiment files. They
 *                                   override those of `settings`. Rank 0's counts.
 *   nic_rate     WEIR_NIC_RATE      each machine's NIC rate, such as "25Gbps", if there is no topology
 *                                   ("10Gbps"). It sets the size of parts. Rank 0's counts.
 *   patience     WEIR_PATIENCE      how many seconds a rank may take for its part (600)
 *   warn_after   WEIR_WARN_AFTER    after how many seconds a wait is reported on standard error (60)
 *   threads      WEIR_THREADS       threads of this process that sum and copy (chosen by the host's cores)
 *   transport    WEIR_TRANSPORT     "tcp", "shm" (shared memory within a host, else TCP), "rdma", or "auto":
 *                                   shared memory within a host, RDMA where both ends can, else TCP
 *                                   ("auto"). Rank 0's counts.
 *   encrypt      WEIR_ENCRYPT       true or 1: tensors are encrypted between hosts. Rank 0's counts.
 *
 * A session of one rank needs no settings, but refuses wrong ones. Returns WEIR_INVALID, WEIR_STATE,
 * WEIR_LOST, WEIR_TIMEOUT or WEIR_SYSTEM on failure. */
WEIR_API weir_status weir_init(const char* settings);

/* Runs this process as a CPU machine of a session. Takes the settings above, with `server` (WEIR_SERVER,
 * counted from 0) in place of the rank's. Blocks until the ranks have shut down (WEIR_OK) or the session
 * fails. Do not call it beside weir_init(). */
WEIR_API weir_status weir_serve(const char* settings);

/* Leaves the session once every tensor on its way has arrived. Returns when all ranks have left, or after
 * `patience`. WEIR_STATE if not initialised. The library can be initialised again afterwards. */
WEIR_API weir_status weir_shutdown(void);

/* Ends the session at once for all processes and tells them `why`. For a rank that cannot go on. */
WEIR_API weir_status weir_abort(const char* why);

WEIR_API int32_t weir_is_initialized(void);
/* -1 if not initialised. */
WEIR_API int32_t weir_rank(void);
WEIR_API int32_t weir_size(void);
WEIR_API int32_t weir_local_rank(void);
WEIR_API int32_t weir_local_size(void);
WEIR_API int32_t weir_servers(void);

/* 1 if weir_push_pull() accepts GPU memory here: the library has CUDA and this host has a GPU. Else 0. */
WEIR_API int32_t weir_takes_gpus(void);

/* Declares tensors that are planned together: pass all tensors of a model in one call, so that urgent ones go
 * first. Does not wait for other ranks. A tensor that is declared again must be the same as before (else
 * WEIR_MISMATCH). WEIR_INVALID also if a tensor is to be kept but the session has no CPU machines. */
WEIR_API weir_status weir_declare(const weir_tensor* tensors, int64_t count);

/* As weir_declare(), but sums the tensors over these ranks alone. The calling rank must be one of them. Each
 * of them declares the tensors with the same ranks, in any order. The names then belong to these ranks:
 * others must not use them, not even for tensors of their own. So processes of one host can first sum among
 * themselves by other means; then each sums its share with its counterparts on other hosts. A list of all
 * ranks is not the same as weir_declare(). WEIR_INVALID also if a rank is listed twice or does not exist, or
 * if a tensor is to be kept. */
WEIR_API weir_status weir_declare_among(const weir_tensor* tensors, int64_t count, const int32_t* ranks,
                                        int32_t rank_count);

/* Begins to sum a tensor over all ranks, or over those of weir_declare_among(). Never waits.
 *
 * Memory: reads `in` and writes the sum to `out`, which may be the same. Both are arrays of `elements`
 * elements of the dtype, without gaps. Both are in host memory (device -1, stream NULL) or both on that CUDA
 * device of this host. On a device, `in` is complete once all work that is on the stream (a cudaStream_t) now
 * has ended. The call does not wait for that. Once weir_wait() has returned, any stream may read `out`. All
 * GPU tensors of a rank must be on one device.
 *
 * Names: a tensor that was not declared is declared with priority 0. With a NULL or empty name, tensors are
 * matched by order: the n-th unnamed one, counting sums and broadcasts together, must be the same on all
 * ranks. Otherwise no unnamed tensor can be used any more. `kind` is a word for what the caller makes of the
 * sum, such as "averaged" (NULL: nothing). The library does not act on it, but checks that all ranks pass the
 * same. It may change from round to round.
 *
 * Floating-point sums may differ in the last bits from run to run (option sum_order), never from rank to
 * rank. WEIR_INVALID, WEIR_STATE, WEIR_MISMATCH; weir_wait() returns later failures. */
WEIR_API weir_status weir_push_pull(const char* name, const void* in, void* out, int64_t elements,
                                    int32_t dtype, const char* kind, int32_t device, void* stream,
                                    weir_handle* handle);

/* Begins to add `delta` to the tensor of this name that the CPU machines keep, which starts as zeros. Writes
 * the result to `weights`, which may be the same array. Does not wait for other ranks. Once all ranks know
 * the tensor, each may add at its own pace, any number of times (asynchronous training).
 *
 * The kept tensor is the sum of everything added so far, in order of arrival, rounded to the dtype each time.
 * Each part of a tensor (option partition_size) is updated independently. So parts of `weights` may differ in
 * which additions of other ranks they include. To only read, add zeros. The tensor is kept until the session
 * ends.
 *
 * Memory, devices and streams as in weir_push_pull(). A tensor that was not declared (WEIR_KEPT) is declared
 * with priority 0. WEIR_INVALID without CPU machines or without a name. WEIR_MISMATCH also if the name is
 * summed elsewhere. */
WEIR_API weir_status weir_accumulate(const char* name, const void* delta, void* weights, int64_t elements,
                                     int32_t dtype, int32_t device, void* stream, weir_handle* handle);

/* Begins to copy `bytes` bytes unchanged from rank `root` to all others, in host memory (device -1, stream
 * NULL). Otherwise like weir_push_pull(), with a `kind` such as "float32". weir_wait() returns WEIR_MISMATCH
 * if ranks name different roots. */
WEIR_API weir_status weir_broadcast(const char* name, void* data, int64_t bytes, const char* kind,
                                    int32_t root, int32_t device, void* stream, weir_handle* handle);

/* Whether weir_wait() would return at once. */
WEIR_API weir_status weir_poll(weir_handle handle, int32_t* done);

/* Waits until the tensor has arrived or failed. The handle is invalid afterwards. */
WEIR_API weir_status weir_wait(weir_handle handle);

/* Returns once every rank has called it. */
WEIR_API weir_status weir_barrier(void);

/* Bytes of tensors per second that this rank has got back, over the last ten seconds. */
WEIR_API weir_status weir_speed(double* bytes_per_second);

#ifdef __cplusplus
}
#endif

#endif
/* NOLINTEND(modernize-deprecated-headers, readability-identifier-naming) */
