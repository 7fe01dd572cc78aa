"""The same work in plain asyncio: dataset, prompts, cache key, semaphore, single flight, results. The yardstick.

usage: asyncio_judge.py http URL CALLS CONCURRENCY        one chat completion for each of CALLS different prompts
       asyncio_judge.py simulated DATASET METRICS OUT     a fake judge at zero latency; results as JSON

Prints one JSON object: what was done, wall and CPU seconds, peak memory in MB. `http` needs the `openai` package.
"""

import asyncio
import hashlib
import json
import math
import resource
import sys
import time


class SingleFlight:
    """Equal requests are one call; at most `limit` calls at once."""

    def __init__(self, limit):
        self.semaphore = asyncio.Semaphore(limit)
        self.flights = {}
        self.calls = 0

    async def ask(self, key, call):
        flight = self.flights.get(key)
        if flight is None:
            flight = self.flights[key] = asyncio.ensure_future(self.limited(call))
        return await flight

    async def limited(self, call):
        async with self.semaphore:
            self.calls += 1
            return await call()


def key_of(model, metric, messages):
    request = {"provider": "openai", "model": model, "params": {"temperature": 0}, "metric": metric, "version": "1",
               "messages": messages, "repeat": 0}
    return hashlib.sha256(json.dumps(request, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()


def prompt(metric, row):
    passages = "\n\n".join(f"[{at + 1}] {text}" for at, text in enumerate(row["contexts"]))
    return [
        {"role": "system", "content": f"You judge the {metric} of an answer. Say a score from 0 to 1 as JSON."},
        {"role": "user", "content": f"Question:\n{row['question']}\n\nPassages:\n{passages}\n\nAnswer:\n{row['answer']}"},
    ]


async def http(url, calls, concurrency):
    import openai

    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=4)
    flights = SingleFlight(concurrency)

    async def score(index):
        messages = [{"role": "user", "content": f"Is answer {index} supported? Say JSON."}]

        async def call():
            answer = await client.chat.completions.create(model="judge", messages=messages, temperature=0)
            return answer.choices[0].message.content

        return await flights.ask(key_of("judge", "faithfulness", messages), call)

    await asyncio.gather(*(score(index) for index in range(calls)))
    return {"calls": flights.calls}


async def simulated(dataset, metrics, out):
    with open(dataset) as lines:
        rows = [json.loads(line) for line in lines]
    flights = SingleFlight(8)
    names = ["faithfulness", "answer_relevancy", "context_precision"][:metrics]

    async def score(metric, row):
        messages = prompt(metric, row)
        key = key_of("simulated", metric, messages)

        async def call():
            await asyncio.sleep(0)
            return json.dumps({"score": int(key[:8], 16) / 0xFFFFFFFF, "reason": "simulated"})

        answer = json.loads(await flights.ask(key, call))
        return metric, answer["score"], answer["reason"]

    async def sample(row):
        scored = await asyncio.gather(*(score(metric, row) for metric in names))
        inputs = json.dumps([row["question"], row.get("ground_truth")], ensure_ascii=False)
        return {"id": row["id"], "input_sha256": hashlib.sha256(inputs.encode()).hexdigest(),
                "scores": {metric: value for metric, value, _ in scored},
                "reasons": {metric: reason for metric, _, reason in scored}}

    samples = await asyncio.gather(*(sample(row) for row in rows))
    summary = {}
    for name in names:
        values = [one["scores"][name] for one in samples]
        mean = math.fsum(values) / len(values)
        variance = math.fsum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1)
        summary[name] = {"mean": mean, "n": len(values), "stderr": math.sqrt(variance / len(values))}
    with open(out, "w") as file:
        json.dump({"metrics": summary, "samples": samples}, file)
    return {"calls": flights.calls, "scores": len(rows) * len(names)}


def main():
    mode, *arguments = sys.argv[1:] or [""]
    started = time.perf_counter()
    if mode == "http":
        done = asyncio.run(http(arguments[0], int(arguments[1]), int(arguments[2])))
    elif mode == "simulated":
        done = asyncio.run(simulated(arguments[0], int(arguments[1]), arguments[2]))
    else:
        sys.exit(__doc__)
    used = resource.getrusage(resource.RUSAGE_SELF)
    done |= {"wall_s": time.perf_counter() - started, "cpu_s": used.ru_utime + used.ru_stime,
             "peak_mb": used.ru_maxrss / 1024}
    print(json.dumps(done))


if __name__ == "__main__":
    main()
