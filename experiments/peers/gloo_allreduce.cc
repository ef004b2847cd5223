// All-reduces by Gloo over its TCP transport, one process a worker.
#include <gloo/algorithm.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_bcube.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier.h>
#include <gloo/config.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <exception>
#include <map>
#include <memory>

#include "experiments/peers/rounds.h"

namespace {

using ContextPointer = std::shared_ptr<gloo::rendezvous::Context>;

struct Where {
  int rank = 0;
  int size = 1;
  std::string address;
  std::string store;
};

// Gloo's newer interface, which PyTorch calls: buffers are cut into segments of 1 MiB, two of them under way.
std::function<void(std::vector<float>&)> newer(const ContextPointer& context,
                                               gloo::AllreduceOptions::Algorithm algorithm) {
  return [context, algorithm](std::vector<float>& gradients) {
    gloo::AllreduceOptions options(context);
    options.setAlgorithm(algorithm);
    options.setOutput(gradients.data(), gradients.size());
    options.setReduceFunction([](void* into, const void* left, const void* right, std::size_t count) {
      gloo::sum<float>(into, left, right, count);
    });
    gloo::allreduce(options);
  };
}

// Its older one: an algorithm is made once for a buffer and then run again and again.
template <class Algorithm>
std::function<void(std::vector<float>&)> older(const ContextPointer& context) {
  const auto made = std::make_shared<std::unique_ptr<Algorithm>>();
  return [context, made](std::vector<float>& gradients) {
    if (!*made) {
      *made = std::make_unique<Algorithm>(context, std::vector<float*>{gradients.data()},
                                          static_cast<int>(gradients.size()));
    }
    (*made)->run();
  };
}

std::function<void(std::vector<float>&)> sum_of(const std::string& algorithm, const ContextPointer& context) {
  if (algorithm == "ring") return newer(context, gloo::AllreduceOptions::Algorithm::RING);
  if (algorithm == "bcube") return newer(context, gloo::AllreduceOptions::Algorithm::BCUBE);
  if (algorithm == "older_bcube") return older<gloo::AllreduceBcube<float>>(context);
  if (algorithm == "ring_chunked") return older<gloo::AllreduceRingChunked<float>>(context);
  return older<gloo::AllreduceHalvingDoubling<float>>(context);
}

double largest(const ContextPointer& context, double value) {
  gloo::AllreduceOptions options(context);
  options.setOutput(&value, 1);
  options.setReduceFunction([](void* into, const void* left, const void* right, std::size_t count) {
    gloo::max<double>(into, left, right, count);
  });
  gloo::allreduce(options);
  return value;
}

int measure(const Where& where, int base, const std::string& algorithm, const peers::Choices& choices) {
  gloo::transport::tcp::attr attributes;
  attributes.hostname = where.address;
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  gloo::rendezvous::FileStore store(where.store);
  const auto context = std::make_shared<gloo::rendezvous::Context>(where.rank, where.size, base);
  context->connectFullMesh(store, device);
  peers::Group group;
  group.rank = where.rank;
  group.size = where.size;
  group.barrier = [&] {
    gloo::BarrierOptions options(context);
    gloo::barrier(options);
  };
  group.sum = sum_of(algorithm, context);
  group.largest = [&](double value) { return largest(context, value); };
  const int status =
      peers::run(choices, group,
                 {{"peer", "gloo"},
                  {"version", std::to_string(GLOO_VERSION_MAJOR) + "." + std::to_string(GLOO_VERSION_MINOR) +
                                  "." + std::to_string(GLOO_VERSION_PATCH)},
                  {"algorithm", algorithm},
                  {"base", base}});
  group.barrier();  // nobody leaves while another still reads
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times all-reduces by Gloo over TCP. Started once for each process, all with the same store.");
  Where where;
  peers::Choices choices;
  std::string algorithm = "ring";
  int base = 2;
  app.add_option("--rank", where.rank)->required();
  app.add_option("--size", where.size, "How many processes")->required();
  app.add_option("--address", where.address, "Address at which the others reach this process")->required();
  app.add_option("--store", where.store, "An empty folder through which processes find each other")
      ->required();
  app.add_option("--algorithm", algorithm)
      ->check(CLI::IsMember({"ring", "bcube", "ring_chunked", "halving_doubling", "older_bcube"}));
  app.add_option("--base", base, "Processes of a group, for bcube");
  peers::add_choices(app, choices);
  CLI11_PARSE(app, argc, argv);
  try {
    return measure(where, base, algorithm, choices);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "peer_gloo: %s\n", error.what());
    return 1;
  }
}
