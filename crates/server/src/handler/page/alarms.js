// What is wrong, and the way out of it, judged by the state of the server and its last 15 minutes.

import { millis } from "./dom.js";

const MINUTE = 60_000;
const sum = (list, of) => list.reduce((all, it) => all + of(it), 0);
const per = (share) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
const requests = (list) => sum(list, (it) => sum(it.requests, (count) => count));

/** Alarms, the worst first. Each has a `level`, a `title`, a way `out`, and the `page` of the manual that says more.
 *  `failing` are the origins with what came of their fetches in the last minutes. */
export function alarms(told, samples, failing) {
  const end = samples.at(-1)?.at ?? 0;
  const since = (span) => samples.filter(({ at }) => at > end - span);
  const [minute, five] = [since(MINUTE), since(5 * MINUTE)];
  const found = [
    rejected(told, minute), failed(five), origins(failing), late(minute), busy(told, minute), misses(samples),
    refused(five), full(told), reload(told), died(told),
  ];
  return found.filter(Boolean).sort((a, b) => a.level.localeCompare(b.level));
}

function rejected(told, minute) {
  const count = sum(minute, (it) => it.rejected);
  const worst = [...told.rejections].sort((a, b) => b.count - a.count)[0];
  return count > 0 && { level: "bad", title: `${count} requests were rejected in the last minute`, out: worst.advice, page: "capacity.md" };
}

function failed(five) {
  const [count, all] = [sum(five, (it) => it.requests[3]), requests(five)];
  return count >= 5 && count / all > 0.01 && {
    level: "bad", title: `${per(count / all)} of the requests of 5 minutes failed (5xx)`,
    out: "“Errors and reloads” below names the causes. Those that begin with origin_ are the origin's: look at its row. The log has a line for each.", page: "troubleshooting.md",
  };
}

function origins(failing) {
  const worst = failing.filter((it) => it.failed >= 3 && it.failed / it.all > 0.05).sort((a, b) => b.failed - a.failed)[0];
  return worst && {
    level: "bad", title: `Origin ${worst.name} failed ${worst.failed} of ${worst.all} times in 5 minutes`,
    out: "What is in the cache is still served. Ask the origin from this machine with curl; the log says how each fetch ended.", page: "troubleshooting.md",
  };
}

function late(minute) {
  const slow = minute.filter((it) => it.ms[1] > 1000);
  return slow.length >= 3 && requests(minute) >= 20 && {
    level: "warn", title: `One request in 20 takes ${millis(Math.max(...slow.map((it) => it.ms[1])))} and longer`,
    out: "The stages of the slowest requests below say where the time goes: fetch is the origin or the disk, queue is the load, decode the size of the source, encode the format.", page: "operations.md",
  };
}

function busy(told, minute) {
  const threads = sum(minute, (it) => it.threads) / Math.max(1, minute.length);
  const waiting = minute.filter((it) => it.waiting > 0).length;
  return minute.length >= 6 && threads > 0.9 * told.threads && waiting >= minute.length / 2 && {
    level: "warn", title: `All ${told.threads} worker threads are busy, and images wait`,
    out: "More cores or another node. Less to make helps as much: a larger cache, fewer distinct sizes, a faster format than AVIF.", page: "capacity.md",
  };
}

function misses(samples) {
  const [hits, stale, missed] = [0, 1, 2].map((at) => sum(samples, (it) => it.lookups[at]));
  const all = hits + stale + missed;
  return all >= 200 && (hits + stale) / all < 0.5 && {
    level: "warn", title: `Only ${per((hits + stale) / all)} of the look-ups of 15 minutes found a result`,
    out: "After a deployment this passes. Otherwise URLs differ in something that changes results (andon explain URL shows the key), or the cache is too small: see its evictions, and [cache] memory and disk.size.", page: "cache.md",
  };
}

function refused(five) {
  const [count, all] = [sum(five, (it) => it.requests[2]), requests(five)];
  return all >= 50 && count / all > 0.2 && {
    level: "warn", title: `${per(count / all)} of the requests of 5 minutes are refused or not found (4xx)`,
    out: "“Errors and reloads” below names the causes. After a move, a dialect may be off or at another prefix: the error of such a URL says so.", page: "troubleshooting.md",
  };
}

function full({ memory }) {
  return memory.budget > 0 && memory.reserved > 0.9 * memory.budget && {
    level: "warn", title: "The memory for running jobs is nearly used up",
    out: "Further jobs wait for it. Raise memory_budget if the machine has more, or lower limits.pixels.", page: "capacity.md",
  };
}

function reload({ metrics }) {
  return metrics.reloads.failed && {
    level: "warn", title: "The last reload was refused",
    out: "The server goes on with the configuration that it had. The log names the line; andon config check FILE does, too.", page: "operations.md",
  };
}

function died({ processes }) {
  const count = processes ? sum(processes.deaths, ([, it]) => it) : 0;
  return count > 0 && {
    level: "warn", title: `${count} worker processes ended before their time`,
    out: "Only the requests for those files were lost. The log names the files; keep one and report it.", page: "faults.md",
  };
}
