"""Runs a worker as if each two ranks were of a host of their own: as_hosts.py SCRIPT."""

import os
import runpy
import sys

rank = int(os.environ["WEIR_RANK"])
os.environ.update(WEIR_LOCAL_RANK=str(rank % 2), WEIR_LOCAL_SIZE="2", WEIR_LOCAL="nccl",
                  NCCL_HOSTID=f"host-{rank // 2}")
del sys.argv[0]
runpy.run_path(os.path.join(os.path.dirname(__file__), sys.argv[0]), run_name="__main__")
