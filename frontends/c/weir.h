/* Weir for training frameworks: sums tensors over all ranks of a training session, by the same plans that
 * Weir simulates and runs as experiments. Plain C; no framework's headers.
 *
 * A session has ranks, which are processes that train, and CPU machines ("servers"), which only sum. Each
 * rank is one machine of the session's cluster. Rank 0's process leads the session: all others find it.
 *
 * Names: a tensor is known by its name, which must mean the same tensor on every rank: as many elements of
 * the same dtype. Ranks may declare and hand over tensors in any order; each tensor goes in rounds of its
 * own, in each of which every rank hands it over once, with the same kind (weir_push_pull()). Kept tensors
 * (weir_accumulate()) have no such rounds: each rank adds to them when it likes.
 *
 * Threads: every function may be called from any thread once weir_init() has returned. weir_init() and
 * weir_shutdown() are not called beside any other function.
 *
 * Memory: the caller's tensors are read and written in place, by threads of the library, from when they are
 * handed over until weir_wait() has returned; nobody else may touch them in between.
 *
 * Errors: functions return a status; weir_error() tells the calling thread what the last one was about. After
 * WEIR_LOST, WEIR_TIMEOUT or WEIR_SYSTEM the session is over and everything returns the same on this rank:
 * shut down and begin anew. Nothing hangs: every wait has a deadline (setting "patience").
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

/* Grows by one when a function or a struct changes in a way that callers must know of. */
#define WEIR_ABI_VERSION 4

typedef enum weir_status {
  WEIR_OK = 0,
  WEIR_INVALID = 1,  /* an argument or a setting is wrong; nothing has changed */
  WEIR_STATE = 2,    /* not initialised, or initialised already, or a fork of the process that was */
  WEIR_MISMATCH = 3, /* ranks disagree about a tensor, which can be used no more; the session goes on */
  WEIR_LOST = 4,     /* a process of the session is dead, silent or has left */
  WEIR_TIMEOUT = 5,  /* a rank has not done its part in time */
  WEIR_SYSTEM = 6    /* the system refuses something: memory, connections */
} weir_status;

typedef enum weir_dtype {
  WEIR_F16 = 0,
  WEIR_BF16 = 1,
  WEIR_F32 = 2,
  WEIR_F64 = 3,
  WEIR_I32 = 4,
  WEIR_I64 = 5
} weir_dtype;

/* Of a weir_tensor. */
typedef enum weir_flags {
  WEIR_KEPT = 1 /* CPU machines keep it, and ranks add to it by weir_accumulate() */
} weir_flags;

typedef struct weir_tensor {
  const char* name; /* not empty */
  int64_t elements; /* 0 or more */
  int32_t dtype;    /* a weir_dtype */
  int32_t flags;    /* 0 or WEIR_KEPT */
  int64_t priority; /* larger is more urgent; counts among tensors that are declared together */
  const char* kind; /* as weir_push_pull() gets it; NULL of what is kept */
} weir_tensor;

/* A tensor that is on its way; 0 is none. */
typedef int64_t weir_handle;

/* WEIR_ABI_VERSION of the library. */
WEIR_API int32_t weir_abi_version(void);
/* The library's version. Never NULL, never to be freed. */
WEIR_API const char* weir_version(void);
/* What the calling thread's last failure was, in words; empty if there was none. Valid until its next call.
 */
WEIR_API const char* weir_error(void);

/* Takes part in a session as a rank; returns once all its processes are there. `settings` is NULL or a JSON
 * object with any of these, which go before the environment's:
 *
 *   setting      environment, the first that is set
 *   rank         WEIR_RANK, RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID
 *   size         WEIR_SIZE, WORLD_SIZE, OMPI_COMM_WORLD_SIZE, SLURM_NTASKS     ranks of the session (1)
 *   local_rank   WEIR_LOCAL_RANK, LOCAL_RANK, OMPI_COMM_WORLD_LOCAL_RANK, SLURM_LOCALID
 *   local_size   WEIR_LOCAL_SIZE, LOCAL_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_SIZE, and of Slurm what
 *                SLURM_STEP_TASKS_PER_NODE, else SLURM_TASKS_PER_NODE, and SLURM_NODEID say
 *   servers      WEIR_SERVERS       CPU machines of the session (0)
 *   leader       WEIR_LEADER        "HOST:PORT" at which rank 0's process listens for the others
 *   secret       WEIR_SECRET        32 random bytes in hexadecimal, which all processes of the session know
 *   listen       WEIR_LISTEN        the address of this host at which peers find this process (127.0.0.1 if
 *                                   the leader's is a loopback address, else needed)
 *   strategy     WEIR_STRATEGY      how tensors are summed: docs/pytorch.md ("unified"). Rank 0's.
 *   topology     WEIR_TOPOLOGY      a topology file: its GPU machines are the ranks, its CPU machines the
 *                                   servers, in order (machines with equal NICs). Rank 0's counts.
 *   settings     WEIR_SETTINGS      a file of options, as weir tune writes them. Rank 0's.
 *   options      WEIR_OPTIONS       JSON object: the strategy's options, as in experiment files, which go
 *                                   before those of settings. Rank 0's.
 *   nic_rate     WEIR_NIC_RATE      as "25Gbps": of each machine, if there is no topology ("10Gbps"); tensors
 *                                   are cut into parts for it. Rank 0's.
 *   patience     WEIR_PATIENCE      seconds for a rank to do its part (600)
 *   warn_after   WEIR_WARN_AFTER    seconds after which a wait is told of on the standard error (60)
 *   threads      WEIR_THREADS       that sum and copy, of this process (by the host's cores)
 *   transport    WEIR_TRANSPORT     "tcp", "shm" (memory within a host, else tcp), "rdma", or "auto": memory
 *                                   within a host, RDMA where both ends can, else TCP ("auto"). Rank 0's.
 *   encrypt      WEIR_ENCRYPT       true or 1: tensors are encrypted between hosts. Rank 0's.
 *
 * A session of one rank needs nothing. WEIR_INVALID, WEIR_STATE, WEIR_LOST, WEIR_TIMEOUT, WEIR_SYSTEM. */
WEIR_API weir_status weir_init(const char* settings);

/* Is a CPU machine of a session, with the settings above, but `server` (WEIR_SERVER), from 0 on, instead of
 * the rank's. Blocks until the ranks have shut down (WEIR_OK) or the session fails. Not beside weir_init().
 */
WEIR_API weir_status weir_serve(const char* settings);

/* Leaves the session once every tensor that is on its way has arrived, and returns when all ranks have done
 * so, or after `patience`. WEIR_STATE if not initialised. The library may be initialised again. */
WEIR_API weir_status weir_shutdown(void);

/* Ends the session for everybody at once, who are told why: for a rank that cannot go on. */
WEIR_API weir_status weir_abort(const char* why);

WEIR_API int32_t weir_is_initialized(void);
/* -1 if not initialised. */
WEIR_API int32_t weir_rank(void);
WEIR_API int32_t weir_size(void);
WEIR_API int32_t weir_local_rank(void);
WEIR_API int32_t weir_local_size(void);
WEIR_API int32_t weir_servers(void);

/* 1 if weir_push_pull() takes memory of GPUs here: the library has CUDA, and this host a device. Else 0. */
WEIR_API int32_t weir_takes_gpus(void);

/* Makes tensors known, which are planned together: those of a model in one call are served by priority. Does
 * not wait for other ranks. A tensor that is declared again must be as it was (else WEIR_MISMATCH).
 * WEIR_INVALID also if one is to be kept and the session has no CPU machines. */
WEIR_API weir_status weir_declare(const weir_tensor* tensors, int64_t count);

/* As weir_declare(), but tensors are summed over these ranks alone, each of which declares them with the same
 * ones, in any order; the calling rank is one of them. A name belongs to these ranks then: others do not use
 * it, not even for a tensor of their own. So processes of one host can first sum among themselves by other
 * means, each then its share with its like on other hosts. All ranks, listed, are not the same as
 * weir_declare(). WEIR_INVALID also if a rank stands twice or there is no such, or a tensor is to be kept. */
WEIR_API weir_status weir_declare_among(const weir_tensor* tensors, int64_t count, const int32_t* ranks,
                                        int32_t rank_count);

/* Begins to sum a tensor over all ranks, or those of weir_declare_among(); never waits. `in` is read and
 * `out`, which may be the same, gets the sum: arrays of `elements` of the dtype, without gaps, both in host
 * memory (device -1, stream NULL) or both on that CUDA device of this host, where `in` is complete once all
 * that is on the stream (a cudaStream_t) so far has been done: nothing waits for that here, and any stream
 * may read `out` once weir_wait() has returned. A rank's tensors on GPUs are all on one device. A tensor that
 * was not declared is, with priority 0. A name that is NULL or empty stands for a tensor without a name: the
 * n-th such, sums and broadcasts counted together, is the same on all ranks; where it is not, none can be
 * used any more. `kind` is what the caller makes of the sum, in a word such as "averaged" (NULL: nothing),
 * which the library compares over ranks and does not do; it may change from round to round. Floating-point
 * sums may differ in the last bits from run to run (option sum_order), never from rank to rank. WEIR_INVALID,
 * WEIR_STATE, WEIR_MISMATCH; later failures come from weir_wait(). */
WEIR_API weir_status weir_push_pull(const char* name, const void* in, void* out, int64_t elements,
                                    int32_t dtype, const char* kind, int32_t device, void* stream,
                                    weir_handle* handle);

/* Begins to add `delta` to the tensor of this name that the CPU machines keep, all zeros at first, and to
 * give in `weights`, which may be the same array, what it is then. Does not wait for other ranks: each may do
 * so at its own pace and any number of times (asynchronous training), once all ranks know the tensor. What is
 * kept is the sum of all that was added so far, in the order in which it came, rounded to the dtype each
 * time; each part of a tensor (option partition_size) by itself, so parts of `weights` may have seen other
 * ranks' additions that other parts have not. Who adds zeros only reads. Memory, devices and streams as in
 * weir_push_pull(). It is kept as long as the session lasts. A tensor that was not declared (WEIR_KEPT) is,
 * with priority 0. WEIR_INVALID without CPU machines or without a name; WEIR_MISMATCH also if the name is
 * summed elsewhere. */
WEIR_API weir_status weir_accumulate(const char* name, const void* delta, void* weights, int64_t elements,
                                     int32_t dtype, int32_t device, void* stream, weir_handle* handle);

/* Begins to copy `bytes` bytes from rank `root` to all others, bit by bit, in host memory (device -1, stream
 * NULL); as weir_push_pull(), with a `kind` such as "float32". WEIR_MISMATCH from weir_wait() if ranks name
 * different roots. */
WEIR_API weir_status weir_broadcast(const char* name, void* data, int64_t bytes, const char* kind,
                                    int32_t root, int32_t device, void* stream, weir_handle* handle);

/* Whether weir_wait() would return at once. */
WEIR_API weir_status weir_poll(weir_handle handle, int32_t* done);

/* Waits until the tensor has arrived, or failed, and forgets the handle. */
WEIR_API weir_status weir_wait(weir_handle handle);

/* Returns once every rank has called it. */
WEIR_API weir_status weir_barrier(void);

/* Bytes of tensors that this rank has got back, a second, over the last ten seconds. */
WEIR_API weir_status weir_speed(double* bytes_per_second);

#ifdef __cplusplus
}
#endif

#endif
/* NOLINTEND(modernize-deprecated-headers, readability-identifier-naming) */
