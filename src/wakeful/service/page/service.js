// Requests to the service, with the token if there is one. The token lives in this tab only.

const KEY = "wakeful-token";

/** The service refused: its code, its sentence, and the number that HTTP has for it. */
export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** No answer came: the service or the network is not there. */
export class Away extends Error {}

export const token = {
  get: () => sessionStorage.getItem(KEY) ?? "",
  set: (text) => sessionStorage.setItem(KEY, text.replaceAll(/[^!-~]/g, "")), // what a header can hold
  forget: () => sessionStorage.removeItem(KEY),
};

/** Send a request; the answer is returned whatever its status. */
export async function send(path, options = {}) {
  const headers = { ...options.headers };
  if (token.get()) headers.Authorization = `Bearer ${token.get()}`;
  try {
    return await fetch(path, { ...options, headers, cache: "no-store", credentials: "same-origin", redirect: "error" });
  } catch (error) {
    throw error.name === "AbortError" ? error : new Away(error.message);
  }
}

/** Return the reason why an answer is no success; whoever shows the token box hears of one that is missing. */
export async function refusal(answer) {
  if (answer.status === 401) document.dispatchEvent(new Event("unauthorized"));
  try {
    const { error } = await answer.json();
    return new Refused(answer.status, error.code, error.message);
  } catch {
    return new Refused(answer.status, "failed", `The service answered ${answer.status}.`);
  }
}

/** Return the JSON at a path; a refusal is thrown. */
export async function read(path, signal) {
  const answer = await send(path, { signal });
  if (!answer.ok) throw await refusal(answer);
  try {
    return await answer.json();
  } catch (error) {
    throw error instanceof TypeError ? new Away(error.message) : error; // the connection was cut in the middle
  }
}

/** The address of something of a bandit: its report, its ranking, ... */
export function pathOf(name, what, query = {}) {
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) for (const one of [value].flat()) words.append(key, one);
  return `v1/bandits/${encodeURIComponent(name)}/${what}${`${words}` && `?${words}`}`;
}
