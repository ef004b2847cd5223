"""Training that gives the same parameters on any number of ranks: what each learns of, and how."""

import torch

STEPS = 8
BATCH = 16  # of all ranks together

SGD = {"momentum": 0.9, "weight_decay": 0.01, "lr": 0.05}
OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, **SGD),
    "nesterov": lambda parameters: torch.optim.SGD(parameters, nesterov=True, **SGD),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=0.01),
    "rmsprop": lambda parameters: torch.optim.RMSprop(parameters, lr=0.01),
}


class Model(torch.nn.Module):
    """With a shared layer, one that is used in some steps only, one that is never,
    and parameters in a list."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(10, 32)
        self.convolution = torch.nn.Conv1d(1, 4, 3).to(memory_format=torch.contiguous_format)
        self.shared = torch.nn.Linear(32, 32)
        self.sometimes = torch.nn.Linear(32, 32)
        self.never = torch.nn.Linear(3, 3)
        self.scales = torch.nn.ParameterList([torch.nn.Parameter(torch.ones(32)) for _ in range(2)])
        self.frozen = torch.nn.Parameter(torch.ones(32), requires_grad=False)
        self.last = torch.nn.Linear(32 + 4 * 8, 3)

    def forward(self, x, step):
        y = torch.relu(self.first(x))
        y = torch.relu(self.shared(y)) * self.scales[0] + self.frozen
        y = torch.relu(self.shared(y)) * self.scales[1]
        if step % 3 != 1:
            y = y + self.sometimes(y)
        z = self.convolution(x.unsqueeze(1)).flatten(1)
        return self.last(torch.cat([y, z], 1))


def lesson(step, rank, ranks, dtype):
    """This rank's part of a step's batch."""
    generator = torch.Generator().manual_seed(1000 + step)
    x = torch.randn(BATCH, 10, generator=generator).to(dtype)
    y = torch.randn(BATCH, 3, generator=generator).to(dtype)
    part = slice(rank * BATCH // ranks, (rank + 1) * BATCH // ranks)
    return x[part], y[part]


def loss_of(model, step, rank, ranks, dtype):
    x, y = lesson(step, rank, ranks, dtype)
    return ((model(x, step) - y) ** 2).mean()


# way -> optimizer, dtype, how. All but "fp16" equal training in one process.
WAYS = {
    **{name: (name, torch.float64, "plain") for name in OPTIMIZERS},
    "single": ("sgd", torch.float32, "plain"),
    "half": ("sgd", torch.bfloat16, "plain"),
    "sum": ("sgd", torch.float64, "sum"),
    "predivide": ("sgd", torch.float64, "predivide"),
    "passes": ("sgd", torch.float64, "passes"),
    "clipped": ("adam", torch.float64, "clipped"),
    "closure": ("sgd", torch.float64, "closure"),
    "scheduled": ("sgd", torch.float64, "scheduled"),
    "fp16": ("sgd", torch.float32, "fp16"),
    **{f"cross-{name}": (name, torch.float64, "cross") for name in OPTIMIZERS},
    "cross-scheduled": ("adam", torch.float64, "cross-scheduled"),
    "cross-clipped": ("adam", torch.float64, "cross-clipped"),
    "cross-passes": ("sgd", torch.float64, "cross-passes"),
    "ddp": ("sgd", torch.float64, "ddp"),
    "no-sync": ("sgd", torch.float64, "no-sync"),
}


def distributed(how, model, optimizer, weir):
    """The model and the optimizer as this way of training has them."""
    if how in ("ddp", "no-sync"):
        return weir.parallel.DistributedDataParallel(model), optimizer
    weir.broadcast_parameters(model.state_dict(), root_rank=0)
    weir.broadcast_optimizer_state(optimizer, root_rank=0)
    if how in ("cross", "cross-clipped"):
        return model, weir.CrossBarrier(model, optimizer, STEPS)
    options = {
        "sum": {"op": weir.Sum},
        "predivide": {"gradient_predivide_factor": 2.0},
        "passes": {"backward_passes_per_step": 2},
        "cross-passes": {"backward_passes_per_step": 2, "cross_barrier": True, "model": model},
        "cross-scheduled": {"cross_barrier": True, "model": model},
        "fp16": {"compression": weir.Compression.fp16},
    }.get(how, {})
    return model, weir.DistributedOptimizer(optimizer, model.named_parameters(), **options)


def train(way, rank, ranks, weir=None):
    """The parameters after STEPS steps, as a dict; alone without `weir`."""
    name, dtype, how = WAYS[way]
    torch.manual_seed(5 if weir is None else 5 + rank)  # rank 0's start counts
    model = Model().to(dtype)
    whole = model
    optimizer = OPTIMIZERS[name](model.parameters())
    if weir is not None:
        whole, optimizer = distributed(how, model, optimizer, weir)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5) if how.endswith("scheduled") else None
    passes = 2 if how in ("passes", "cross-passes", "no-sync") else 1
    for step in range(STEPS):
        optimizer.zero_grad()

        def evaluated(step=step):
            optimizer.zero_grad()
            value = loss_of(whole, step, rank, ranks, dtype)
            value.backward()
            if weir is None:
                _fill(model)
            return value

        if how == "closure":
            optimizer.step(evaluated)
            continue
        for turn in range(passes):
            if how == "no-sync" and weir is not None and turn == 0:
                with whole.no_sync():
                    loss_of(whole, 2 * step, rank, ranks, dtype).backward()
                continue
            loss = loss_of(whole, passes * step + turn, rank, ranks, dtype)
            if how == "sum":
                loss = loss / ranks
            loss.backward()
        if weir is None:
            _fill(model)
        if how.endswith("clipped"):
            if weir is not None:
                optimizer.synchronize()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            if weir is not None:
                with optimizer.skip_synchronize():
                    optimizer.step()
                continue
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def _fill(model):
    """Parameters without a gradient count as zeros in Weir; here too, where one process trains alone."""
    for parameter in model.parameters():
        if parameter.requires_grad and parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
