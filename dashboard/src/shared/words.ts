/** The reason of a verdict comes as a phrase; the name of an agent at its start stays as it is. */
export function asSentence(phrase: string): string {
  const reason = phrase.replace(/^no winner: /, "");
  const text = /^[^ ]*@/.test(reason) ? reason : reason.charAt(0).toUpperCase() + reason.slice(1);
  return text === "" || /[.!?]$/.test(text) ? text : `${text}.`;
}
