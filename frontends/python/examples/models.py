"""The models of the examples, so that they need nothing but PyTorch: ResNet-50, VGG-16, BERT-Large, GPT-2,
a small MLP."""

import torch
from torch import nn
from torch.nn import functional as F


class Bottleneck(nn.Module):
    """1 x 1, 3 x 3 and 1 x 1 convolutions beside a shortcut."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.body = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = nn.Identity() if stride == 1 and inputs == outputs else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x), inplace=True)


def resnet50(classes=1000):
    """25.6 million parameters."""
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
              nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            layers.append(Bottleneck(inputs, width, stride if block == 0 else 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))


def vgg16(classes=1000):
    """138.4 million parameters, nine tenths of them in the last three layers."""
    layers, inputs = [], 3
    for convolutions, width in ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)):
        for _ in range(convolutions):
            layers += [nn.Conv2d(inputs, width, 3, padding=1), nn.ReLU(inplace=True)]
            inputs = width
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(7), nn.Flatten(), nn.Linear(inputs * 49, 4096),
                         nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU(inplace=True),
                         nn.Dropout(), nn.Linear(4096, classes))


class Block(nn.Module):
    """A transformer's layer; `causal` if no token sees later ones."""

    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads = heads
        self.causal = causal
        self.before_attention = nn.LayerNorm(width)
        self.mixed = nn.Linear(width, 3 * width)
        self.joined = nn.Linear(width, width)
        self.before_network = nn.LayerNorm(width)
        self.network = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        query, key, value = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                             for part in self.mixed(self.before_attention(x)).split(width, 2))
        scores = query @ key.transpose(2, 3) / (width // self.heads) ** 0.5
        if self.causal:
            later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
            scores = scores.masked_fill(later, float("-inf"))
        x = x + self.joined((scores.softmax(3) @ value).transpose(1, 2).reshape(batch, length, width))
        return x + self.network(self.before_network(x))


class Transformer(nn.Module):
    """Tokens to the scores of tokens."""

    def __init__(self, tokens, length, width, heads, layers, causal):
        super().__init__()
        self.token = nn.Embedding(tokens, width)
        self.place = nn.Embedding(length, width)
        self.blocks = nn.Sequential(*[Block(width, heads, causal) for _ in range(layers)])
        self.after = nn.LayerNorm(width)
        self.scores = nn.Linear(width, tokens, bias=False)
        self.scores.weight = self.token.weight
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.scores(self.after(self.blocks(self.token(tokens) + self.place(places))))


def bert_large():
    """334 million parameters."""
    return Transformer(30522, 512, 1024, 16, 24, causal=False)


def gpt2(tokens=50257, length=1024, width=768, heads=12, layers=12):
    """GPT-2 small, with 124 million parameters unless smaller sizes are given."""
    return Transformer(tokens, length, width, heads, layers, causal=True)


def mlp(width=1024, layers=4, classes=10):
    """Small enough for any processor: 4 million parameters."""
    body = [part for _ in range(layers) for part in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(*body, nn.Linear(width, classes))


def images(batch, device):
    """Random pictures and their classes."""
    return torch.randn(batch, 3, 224, 224, device=device), torch.randint(1000, (batch,), device=device)


def texts(tokens, length):
    """Random texts, each of whose tokens is to be predicted."""
    def make(batch, device):
        data = torch.randint(tokens, (batch, length), device=device)
        return data, data
    return make


def vectors(batch, device):
    """Random vectors and their classes."""
    return torch.randn(batch, 1024, device=device), torch.randint(10, (batch,), device=device)


# name -> model, what makes a batch for it, and what a sample is called
MODELS = {
    "resnet50": (resnet50, images, "img"),
    "vgg16": (vgg16, images, "img"),
    "bert-large": (bert_large, texts(30522, 128), "seq"),
    "gpt2": (gpt2, texts(50257, 256), "seq"),
    "mlp": (mlp, vectors, "vec"),
}


def loss(output, target):
    """Cross entropy of classes, or of the tokens of texts."""
    return F.cross_entropy(output.flatten(0, -2), target.flatten())
