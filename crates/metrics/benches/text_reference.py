"""The judge-free metrics by their Python references: rouge-score, sacrebleu, Levenshtein, RapidFuzz, SQuAD's script and,
where it is installed, pytrec_eval. Reads samples as JSON lines, prints a mean for each metric."""

import collections
import json
import re
import string
import sys

import Levenshtein
from rapidfuzz.distance import JaroWinkler
from rapidfuzz.distance import Levenshtein as Distance
from rouge_score import rouge_scorer
from sacrebleu.metrics import BLEU, CHRF

try:
    import pytrec_eval
except ImportError:
    pytrec_eval = None


def normalised(text):
    text = "".join(letter for letter in text.lower() if letter not in PUNCTUATION)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


PUNCTUATION = set(string.punctuation)


def f1(answer, reference):
    answer, reference = normalised(answer).split(), normalised(reference).split()
    shared = sum((collections.Counter(answer) & collections.Counter(reference)).values())
    if not answer or not reference:
        return float(answer == reference)
    return 2 * shared / (len(answer) + len(reference))


samples = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
rouge = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)
bleu, chrf, chrf_words = BLEU(effective_order=True), CHRF(), CHRF(word_order=2)
sums = collections.Counter()
for sample in samples:
    answer, reference = sample["answer"], sample["reference"]
    for name, score in rouge.score(reference, answer).items():
        sums[name] += score.fmeasure
    sums["bleu"] += bleu.sentence_score(answer, [reference]).score / 100
    sums["chrf"] += chrf.sentence_score(answer, [reference]).score / 100
    sums["chrf++"] += chrf_words.sentence_score(answer, [reference]).score / 100
    sums["indel"] += Levenshtein.ratio(answer, reference)
    sums["levenshtein"] += Distance.normalized_similarity(answer, reference)
    sums["jaro_winkler"] += JaroWinkler.normalized_similarity(answer, reference)
    sums["exact_match"] += normalised(answer) == normalised(reference)
    sums["token_f1"] += f1(answer, reference)
if pytrec_eval:
    qrels = {s["id"]: dict.fromkeys(s["reference_context_ids"], 1) for s in samples}
    run = {s["id"]: {c: 100 - rank for rank, c in enumerate(s["context_ids"])} for s in samples}
    measures = {"map", "ndcg", "recip_rank", "Rprec", "P_5", "recall_5", "ndcg_cut_5"}
    for found in pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run).values():
        for name, score in found.items():
            sums[name] += score
print(json.dumps({name: round(total / len(samples), 6) for name, total in sums.items()}))
