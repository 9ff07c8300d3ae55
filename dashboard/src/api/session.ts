/** Staying signed in: the server keeps the key in a cookie that no script of a page can read. */
import { forget, send } from "./client";
import { writeKey } from "./key";

const JSON_BODY = { "Content-Type": "application/json" };

/** Signs this browser in with a key for 30 days; other tabs and the API's documentation are signed in as well. */
export async function rememberKey(key: string): Promise<void> {
  const headers = { ...JSON_BODY, Authorization: `Bearer ${key}` };
  await send("/api/session", { method: "POST", body: JSON.stringify({ remember: true }), headers });
  forget();
  writeKey(null);
}

/** Signs in with the token of a link, which works once. */
export async function followLink(token: string): Promise<void> {
  await send("/api/session/link", { method: "POST", body: JSON.stringify({ token }), headers: JSON_BODY });
  forget();
  writeKey(null);
}

/** Forgets the key of this tab and the cookie of this browser. */
export async function signOut(): Promise<void> {
  try {
    await send("/api/session", { method: "DELETE" });
  } finally {
    forget();
    writeKey(null);
  }
}
