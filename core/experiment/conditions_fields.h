// The fields of an experiment's conditions (see fields.h).
#pragma once

#include "core/document/fields.h"
#include "core/simulate/conditions.h"

namespace weir {

constexpr Duration kLongestSpell{1'000'000'000'000'000};  // longer than a run
constexpr Duration kShortestTurn{1'000};                  // each change costs a step of the simulation

template <class Visitor>
void spell_fields(Visitor& visitor, Spell& spell) {
  visitor.optional("at", spell.at, "when it begins, from the start of the run, warm-up included",
                   up_to(kLongestSpell));
  visitor.optional("for", spell.lasting, "for how long; permanently by default");
  visitor.optional("every", spell.every, "the time from one occurrence to the next; only once by default");
}

template <class Visitor>
void fields(Visitor& visitor, Straggler& straggler) {
  visitor.required("machines", straggler.machines, "names of machines, as 'gpu[3]'; * stands for any text");
  visitor.optional("compute", straggler.compute, "how many times as long their GPUs take", within(1, 1000));
  visitor.optional("jitter", straggler.jitter,
                   "the relative standard deviation of their compute times, in addition to the model's",
                   within(0, 1));
}

template <class Visitor>
void fields(Visitor& visitor, SlowLinks& slow) {
  visitor.required("links", slow.links, "names of links, as 'gpu[3].nic0.out'; * stands for any text");
  visitor.required("factor", slow.factor, "the fraction of their rates that is left; 0 is down",
                   within(0, 1));
  spell_fields(visitor, slow.spell);
}

template <class Visitor>
void fields(Visitor& visitor, Background& background) {
  visitor.required("from", background.from, "names of the machines that send; * stands for any text");
  visitor.required("into", background.into,
                   "names of the machines that each of them sends to, except itself");
  visitor.required("rate", background.rate, "the rate between each two machines, whatever else moves");
  spell_fields(visitor, background.spell);
}

template <class Visitor>
void fields(Visitor& visitor, Incast& incast) {
  visitor.required("senders", incast.senders, "how many messages a NIC takes in at once without loss",
                   within(1, 1'000'000));
  visitor.required("loss", incast.loss,
                   "the fraction of the NIC's rate that retransmissions take for each further message",
                   within(0, 1));
}

template <class Visitor>
void fields(Visitor& visitor, Stop& stop) {
  visitor.required("machines", stop.machines, "names of machines, as 'gpu[3]'; * stands for any text");
  spell_fields(visitor, stop.spell);
}

template <class Visitor>
void fields(Visitor& visitor, Conditions& conditions) {
  visitor.optional("stragglers", conditions.stragglers, "machines that compute more slowly than others");
  visitor.optional("links", conditions.links, "links at a part of their rate, permanently or for a while");
  visitor.optional("background", conditions.background, "other traffic, which does not yield");
  visitor.optional("incast", conditions.incast, "receivers that lose messages when many come at once");
  visitor.optional("stops", conditions.stops, "machines that stop for a while, or fail");
}

}  // namespace weir
