//! What can be built, and what a person should know of it.

use super::answer_claims::AnswerClaims;
use super::answer_relevancy::AnswerRelevancy;
use super::claim_sources::{self, ClaimSources};
use super::context_precision::{self, ContextPrecision};
use super::context_recall::{self, ContextRecall};
use super::context_relevance::{self, ContextRelevance};
use super::entities::{self, EntityRecall};
use super::facts::{self, Facts};
use super::faithfulness::{self, Faithfulness};
use super::generated_questions::GeneratedQuestions;
use super::rubric::Rubric;
use crate::registry::Entry;

const PROMPT: &[&str] = &["prompt"];

/// All judged metrics, those of peers after ours.
pub(crate) const ENTRIES: &[Entry] = &[
    Entry {
        name: "faithfulness",
        about: "share of the answer's sentences that the passages support",
        definition: "supported sentences of the answer, divided by all its sentences. For each supported sentence a language \
model has to quote the passages; a quote that does not stand in them makes the sentence unsupported. A sentence that claims no \
fact counts as supported. Not applicable without an answer, without passages, or without a claim.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(Faithfulness::new(
                of,
                faithfulness::Formula::Supported,
            )?))
        },
    },
    Entry {
        name: "hallucination",
        about: "share of the answer's sentences that the passages do not support",
        definition: "1 minus `faithfulness`: sentences that the passages do not support, divided by all sentences of the \
answer. It asks the judge the same, so that both together are one call. Not applicable where `faithfulness` is not.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(Faithfulness::new(
                of,
                faithfulness::Formula::Unsupported,
            )?))
        },
    },
    Entry {
        name: "context_precision",
        about: "useful passages come first",
        definition: "the average precision of the ranking, with a verdict for each passage: useful for arriving at the \
reference, or not; without a reference, at the answer. `against` says which of them. `Σ precision@k · v_k / Σ v_k`, 0 when no \
passage is useful. Not applicable without passages, and without what they are held against.",
        keys: &["prompt", "against"],
        example: "",
        build: |of| {
            Ok(Box::new(ContextPrecision::new(
                of,
                context_precision::Formula::Exact,
            )?))
        },
    },
    Entry {
        name: "context_recall",
        about: "share of the reference's sentences that the passages hold",
        definition: "sentences of the reference that can be attributed to the passages, divided by all its sentences; the \
best over the references. Not applicable without a reference that says something, and without passages.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(ContextRecall::new(
                of,
                context_recall::Formula::Contexts,
            )?))
        },
    },
    Entry {
        name: "context_relevance",
        about: "share of the passages that bear on the question",
        definition: "passages that hold something to answer the question with, divided by all passages; needs no reference. \
Not applicable without a question and without passages.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(ContextRelevance::new(
                of,
                context_relevance::Formula::Passages,
            )?))
        },
    },
    Entry {
        name: "context_entity_recall",
        about: "share of the reference's names, dates and numbers that the passages have",
        definition: "the judge lists the named entities of the first reference; those that do not stand in it are dropped. \
Score: those that stand in the passages as whole words, whatever their case and punctuation, divided by all. Not applicable \
without a reference, without passages, and when the reference has no entities.",
        keys: PROMPT,
        example: "",
        build: |of| Ok(Box::new(EntityRecall::new(of, entities::Formula::Found)?)),
    },
    Entry {
        name: "noise_sensitivity",
        about: "share of the answer's sentences that are wrong and come from a relevant passage",
        definition: "sentences of the answer that the reference does not hold and a relevant passage does, divided by all its \
sentences; a passage is relevant when it holds a sentence of the reference. Not applicable without answer, reference or \
passages, and without a claim in the answer.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(ClaimSources::new(
                of,
                claim_sources::Formula::Noise,
            )?))
        },
    },
    Entry {
        name: "factual_correctness",
        about: "the answer says what the reference says, and nothing else",
        definition: "precision is the share of the answer's sentences that a reference states, recall the share of the \
reference's sentences that the answer states (of several references the best). `measure` is `f1` (default), `precision` or \
`recall`. An answer without a claim has no precision, and 0 for the others. Not applicable without an answer and without a \
claim in the reference.",
        keys: &["prompt", "measure"],
        example: "",
        build: |of| Ok(Box::new(Facts::measured(of, facts::Formula::Facts)?)),
    },
    Entry {
        name: "answer_completeness",
        about: "share of the reference's sentences that the answer has",
        definition: "sentences of the reference that the answer states, divided by all its sentences; the best over the \
references. 0 for an empty answer. Not applicable without an answer and without a claim in the reference.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(ContextRecall::new(
                of,
                context_recall::Formula::Answer,
            )?))
        },
    },
    Entry {
        name: "answer_correctness",
        about: "facts in common with the reference, and likeness by an embedding model",
        definition: "the mean of F1 over facts, as in `factual_correctness`, and of the cosine of the embeddings, as in \
`semantic_similarity`, by `weights` (default 0.75 and 0.25). 0 for an answer without a claim. Not applicable without an answer \
and without a claim in the reference.",
        keys: &["prompt", "weights"],
        example: "",
        build: |of| Ok(Box::new(Facts::weighted(of, facts::Formula::Correctness)?)),
    },
    Entry {
        name: "answer_relevancy",
        about: "the answer addresses the question",
        definition: "a grade from 1 to 5 for how directly and completely the answer addresses the question, as its share \
from 0 to 1: `(grade − 1) / 4`. 0 for an empty answer. Not applicable without question or answer.",
        keys: PROMPT,
        example: "",
        build: |of| Ok(Box::new(AnswerRelevancy::new(of)?)),
    },
    Entry {
        name: "rubric",
        about: "a criterion of your own",
        definition: "the judge's grade on a `scale` (default 1 to 5), by the `criteria` of gate.toml and what its `anchors` say \
of the grades, after its `steps`, as its share from 0 to 1. Not applicable without an answer or with an empty one.",
        keys: &["prompt", "criteria", "scale", "anchors", "steps"],
        example: "kind = 'rubric'\ncriteria = 'The answer is polite.'",
        build: |of| Ok(Box::new(Rubric::graded(of)?)),
    },
    Entry {
        name: "yes_no",
        about: "a question of your own about the answer",
        definition: "1 when the judge answers the question in `criteria` with yes, 0 for no. Not applicable without an answer or \
with an empty one.",
        keys: &["prompt", "criteria"],
        example: "kind = 'yes_no'\ncriteria = 'Is the answer polite?'",
        build: |of| Ok(Box::new(Rubric::yes_no(of)?)),
    },
    Entry {
        name: "g_eval",
        about: "criteria of your own, the grade weighted by its probability",
        definition: "a grade on a `scale` (default 0 to 10) by `criteria` and `steps`, as its share from 0 to 1. Where the server \
gives log-probabilities, the grade is the mean of the grades at its place by their probability, those below 0.01 left out; else \
it is the grade as said, and the reason says so. Not applicable without an answer or with an empty one.",
        keys: &["prompt", "criteria", "scale", "anchors", "steps"],
        example: "kind = 'g_eval'\ncriteria = 'The answer is coherent.'",
        build: |of| Ok(Box::new(Rubric::g_eval(of)?)),
    },
    Entry {
        name: "faithfulness@ragas",
        about: "faithfulness by the formula of Ragas",
        definition: "supported sentences / sentences, as the judge says it: quotes are not checked. Asks what `faithfulness` asks. \
Not applicable without claims, where Ragas has NaN.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(Faithfulness::new(
                of,
                faithfulness::Formula::Ragas,
            )?))
        },
    },
    Entry {
        name: "faithfulness@deepeval",
        about: "faithfulness by the formula of DeepEval",
        definition: "sentences that the passages do not contradict / sentences: what they say nothing about counts as faithful. \
That is another question than `faithfulness`, and a call of its own. 1 for an answer without claims.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(Faithfulness::new(
                of,
                faithfulness::Formula::DeepEval,
            )?))
        },
    },
    Entry {
        name: "faithfulness@promptfoo",
        about: "faithfulness by the formula of promptfoo",
        definition: "1 − unsupported sentences / sentences, as the judge says it: quotes are not checked. Asks what `faithfulness` \
asks. Not applicable without claims, where promptfoo fails.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(Faithfulness::new(
                of,
                faithfulness::Formula::Promptfoo,
            )?))
        },
    },
    Entry {
        name: "faithfulness@ragchecker",
        about: "faithfulness by the formula of RAGChecker",
        definition: "sentences of the answer that a single passage holds / sentences. Asks what `noise_sensitivity` asks. 0 \
without claims and without passages.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(ClaimSources::new(
                of,
                claim_sources::Formula::RagCheckerFaithfulness,
            )?))
        },
    },
    Entry {
        name: "hallucination@ragchecker",
        about: "hallucination by the formula of RAGChecker",
        definition: "sentences of the answer that neither a passage nor the reference holds / sentences. Asks what \
`noise_sensitivity` asks. 0 without claims.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(ClaimSources::new(
                of,
                claim_sources::Formula::RagCheckerHallucination,
            )?))
        },
    },
    Entry {
        name: "context_precision@ragas",
        about: "context precision by the formula of Ragas",
        definition: "`Σ precision@k · v_k / (Σ v_k + 1e-10)`, so that a perfect ranking is a little below 1. Asks what \
`context_precision` asks; with `against = \"answer\"` it is Ragas' context utilization.",
        keys: &["prompt", "against"],
        example: "",
        build: |of| {
            Ok(Box::new(ContextPrecision::new(
                of,
                context_precision::Formula::Ragas,
            )?))
        },
    },
    Entry {
        name: "context_precision@deepeval",
        about: "context precision by the formula of DeepEval",
        definition: "`Σ precision@k · v_k / Σ v_k`, against the reference alone; 0 without a useful passage and without passages. \
Asks what `context_precision` asks where there is a reference.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(ContextPrecision::new(
                of,
                context_precision::Formula::DeepEval,
            )?))
        },
    },
    Entry {
        name: "context_precision@ragchecker",
        about: "context precision by the formula of RAGChecker",
        definition: "passages that hold a sentence of the reference / passages, whatever their order. Asks what \
`noise_sensitivity` asks. 0 without passages and without claims in the reference.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(ClaimSources::new(
                of,
                claim_sources::Formula::RagCheckerPrecision,
            )?))
        },
    },
    Entry {
        name: "context_recall@ragas",
        about: "context recall by the formula of Ragas",
        definition: "attributed sentences / sentences of the first reference, each yes or no. Asks what `context_recall` asks. Not \
applicable without claims, where Ragas has NaN.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(ContextRecall::new(
                of,
                context_recall::Formula::Ragas,
            )?))
        },
    },
    Entry {
        name: "context_recall@deepeval",
        about: "context recall by the formula of DeepEval",
        definition: "attributed sentences / sentences of the first reference, each yes or no; 0 without claims. Asks what \
`context_recall` asks.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(ContextRecall::new(
                of,
                context_recall::Formula::DeepEval,
            )?))
        },
    },
    Entry {
        name: "context_recall@promptfoo",
        about: "context recall by the formula of promptfoo",
        definition: "attributed sentences / sentences of the first reference, each yes or no. Asks what `context_recall` asks. Not \
applicable without claims, where promptfoo fails.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(ContextRecall::new(
                of,
                context_recall::Formula::Promptfoo,
            )?))
        },
    },
    Entry {
        name: "context_relevance@deepeval",
        about: "context relevance by the formula of DeepEval",
        definition: "sentences of all passages that are relevant to the question / sentences of all passages: a call of its own. 0 \
without passages.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(ContextRelevance::new(
                of,
                context_relevance::Formula::DeepEval,
            )?))
        },
    },
    Entry {
        name: "context_entity_recall@ragas",
        about: "context entity recall by the formula of Ragas",
        definition: "entities that the judge lists both of the reference and of the passages, equal letter for letter, each once / \
(those of the reference, as often as listed, + 1e-8). Two calls, of which the first is that of `context_entity_recall`.",
        keys: PROMPT,
        example: "",
        build: |of| Ok(Box::new(EntityRecall::new(of, entities::Formula::Ragas)?)),
    },
    Entry {
        name: "noise_sensitivity@ragas",
        about: "noise sensitivity by the formula of Ragas",
        definition: "what `noise_sensitivity` is: there is no difference in the formula, which is Ragas' for relevant passages. Not \
applicable without claims, where Ragas has NaN.",
        keys: PROMPT,
        example: "",
        build: |of| {
            Ok(Box::new(ClaimSources::new(
                of,
                claim_sources::Formula::Noise,
            )?))
        },
    },
    Entry {
        name: "factual_correctness@ragas",
        about: "factual correctness by the formula of Ragas",
        definition: "TP and FP are claims of the answer, FN claims of the first reference: precision TP / (TP + FP + 1e-8), recall \
TP / (TP + FN + 1e-8), or their F1; rounded to two decimals. Asks what `factual_correctness` asks. Not applicable without claims \
on either side.",
        keys: &["prompt", "measure"],
        example: "",
        build: |of| Ok(Box::new(Facts::measured(of, facts::Formula::RagasFacts)?)),
    },
    Entry {
        name: "answer_correctness@ragas",
        about: "answer correctness by the formula of Ragas",
        definition: "the mean of TP / (TP + (FP + FN) / 2) and of the cosine of the embeddings, by `weights` (default 0.75 and 0.25); \
the first is 1 when neither side has a claim. Asks what `factual_correctness` asks.",
        keys: &["prompt", "weights"],
        example: "",
        build: |of| {
            Ok(Box::new(Facts::weighted(
                of,
                facts::Formula::RagasCorrectness,
            )?))
        },
    },
    Entry {
        name: "answer_relevancy@ragas",
        about: "answer relevancy by the formula of Ragas",
        definition: "the judge writes so many `questions` (default 3) that the answer would answer; score: their mean cosine with the \
question, negative ones being 0, and 0 when the answer commits to nothing. One call and embeddings. Not applicable without \
question or answer.",
        keys: &["prompt", "questions"],
        example: "",
        build: |of| Ok(Box::new(GeneratedQuestions::new(of)?)),
    },
    Entry {
        name: "answer_relevancy@deepeval",
        about: "answer relevancy by the formula of DeepEval",
        definition: "sentences of the answer that are not irrelevant to the question / sentences; 1 for an answer without one. A call \
of its own. Not applicable without question or answer.",
        keys: PROMPT,
        example: "",
        build: |of| Ok(Box::new(AnswerClaims::new(of)?)),
    },
];
