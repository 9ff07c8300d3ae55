import { shortId } from "./paths";

/** The reason of a verdict comes as a phrase; the name of an agent at its start stays as it is. */
export function asSentence(phrase: string): string {
  const reason = phrase.replace(/^no winner: /, "");
  const text = /^[^ ]*@/.test(reason) ? reason : reason.charAt(0).toUpperCase() + reason.slice(1);
  return text === "" || /[.!?]$/.test(text) ? text : `${text}.`;
}

/** The commands of a remedy were written when the run ended: on its page they are of this run, whichever is the last by now. */
export function ofThisRun(remedy: string, runId: string): string {
  return remedy.replace(/`dyno (show|resume|report|rescore) (last|RUN)\b/g, `\`dyno $1 ${shortId(runId)}`);
}
