// A decision, its feedback, and what to do when no answer comes. Run: node examples/service.js (or in a web page)
const service = globalThis.process?.env.WAKEFUL ?? "http://127.0.0.1:8000";

async function ask(method, path, body) {
  const request = { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  for (let pause = 100; ; pause *= 2) {
    const answer = await fetch(`${service}/v1/bandits/${path}`, request).catch((problem) => ({ problem }));
    const again = answer.problem || [429, 502, 503, 504].includes(answer.status);
    if (!again && !answer.ok) throw new Error((await answer.json()).error.message);
    if (!again) return answer.json();
    if (pause > 10_000) throw answer.problem ?? new Error(`the service answers ${answer.status}`);
    const wanted = 1000 * (answer.headers?.get("Retry-After") ?? 0);
    await new Promise((done) => setTimeout(done, Math.max(wanted, pause * (0.5 + Math.random() / 2))));
  }
}

async function main() {
  await ask("PUT", "menu", { arms: ["tea", "coffee", "juice"] }); // the same again changes nothing
  const id = crypto.randomUUID(); // made before the first try, so that every try means the same decision
  const decision = await ask("POST", "menu/decisions", { id, awake: ["tea", "juice"] });
  const feedback = await ask("POST", `menu/decisions/${id}/feedback`, { reward: 1 });
  return { ...decision, feedback: feedback.status };
}

main().then((made) => console.log(JSON.stringify(made)));
