"""What Horovod's scripts ask about how it was built, with the answers for Weir in any framework."""


def mpi_built() -> bool:
    """False, like mpi_enabled() and the others here: Weir moves tensors itself."""
    return False


mpi_enabled = mpi_threads_supported = gloo_built = gloo_enabled = mpi_built
ddl_built = ccl_built = rocm_built = mpi_built
