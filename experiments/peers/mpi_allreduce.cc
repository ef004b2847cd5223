// MPI_Allreduce on MPI_FLOAT in place, by whatever MPI and settings mpirun was started with.
#include <mpi.h>

#include "experiments/peers/rounds.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  CLI::App app("Times all-reduces by MPI. Started by mpirun.");
  peers::Choices choices;
  peers::add_choices(app, choices);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  peers::Group group;
  MPI_Comm_rank(MPI_COMM_WORLD, &group.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &group.size);
  group.barrier = [] { MPI_Barrier(MPI_COMM_WORLD); };
  group.sum = [](std::vector<float>& gradients) {
    MPI_Allreduce(MPI_IN_PLACE, gradients.data(), static_cast<int>(gradients.size()), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
  };
  group.largest = [](double value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
  };
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  const int status = peers::run(
      choices, group, {{"peer", "mpi"}, {"version", std::string(version, static_cast<std::size_t>(length))}});
  MPI_Finalize();
  return status;
}
