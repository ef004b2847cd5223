// ncclAllReduce on f32 in place, in GPU memory: one process for each GPU, which meet through a file.
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "experiments/peers/rounds.h"

namespace {

void must(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

void must(ncclResult_t status) {
  if (status == ncclSuccess) return;
  std::fprintf(stderr, "NCCL: %s\n", ncclGetErrorString(status));
  std::exit(1);
}

// What the first process has written to the file, by whose name the others wait for it.
ncclUniqueId shared_id(int rank, const std::string& file) {
  ncclUniqueId id;
  if (rank == 0) {
    must(ncclGetUniqueId(&id));
    std::ofstream(file + ".new", std::ios::binary).write(id.internal, sizeof id.internal);
    std::filesystem::rename(file + ".new", file);
    return id;
  }
  for (int i = 0; i < 600; ++i) {
    std::ifstream stream(file, std::ios::binary);
    if (stream.read(id.internal, sizeof id.internal)) return id;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::fprintf(stderr, "the first process has not written the NCCL id within 60 s\n");
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times all-reduces by NCCL.");
  peers::Choices choices;
  peers::Group group;
  std::string file;
  int device = 0;
  peers::add_choices(app, choices);
  app.add_option("--rank", group.rank, "Number of this process")->required();
  app.add_option("--size", group.size, "How many processes")->required();
  app.add_option("--device", device, "GPU of this process")->required();
  app.add_option("--id", file, "File through which the first process shares the NCCL id")->required();
  CLI11_PARSE(app, argc, argv);

  must(cudaSetDevice(device));
  cudaStream_t stream = nullptr;
  must(cudaStreamCreate(&stream));
  float* memory = nullptr;
  must(cudaMalloc(reinterpret_cast<void**>(&memory), choices.bytes));
  double* word = nullptr;
  must(cudaMalloc(reinterpret_cast<void**>(&word), sizeof *word));
  ncclComm_t comm = nullptr;
  must(ncclCommInitRank(&comm, group.size, shared_id(group.rank, file), group.rank));

  group.largest = [&](double value) {
    must(cudaMemcpy(word, &value, sizeof value, cudaMemcpyDefault));
    must(ncclAllReduce(word, word, 1, ncclDouble, ncclMax, comm, stream));
    must(cudaStreamSynchronize(stream));
    must(cudaMemcpy(&value, word, sizeof value, cudaMemcpyDefault));
    return value;
  };
  group.barrier = [&] { group.largest(0); };
  group.load = [&](const std::vector<float>& gradients) {
    must(cudaMemcpy(memory, gradients.data(), gradients.size() * sizeof(float), cudaMemcpyDefault));
  };
  group.sum = [&](std::vector<float>& gradients) {
    must(ncclAllReduce(memory, memory, gradients.size(), ncclFloat, ncclSum, comm, stream));
    must(cudaStreamSynchronize(stream));
  };
  group.fetch = [&](std::vector<float>& gradients) {
    must(cudaMemcpy(gradients.data(), memory, gradients.size() * sizeof(float), cudaMemcpyDefault));
  };
  int version = 0;
  must(ncclGetVersion(&version));
  const int status = peers::run(choices, group, {{"peer", "nccl"}, {"version", version}});
  must(ncclCommDestroy(comm));
  return status;
}
