// The test framework, in either of the versions that distributions ship.
#pragma once

#ifdef WEIR_CATCH2_V3
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
