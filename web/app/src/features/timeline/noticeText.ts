import { msg, t } from '../../language/words.ts'

/** Notices that the server posts in English. Others are shown as they are. */
const NOTICES = [
  msg("{name} couldn't answer. An admin has been notified."),
  msg("Agents have replied to each other {n} times in a row, so {name}'s message was not delivered to any agent. A message from a person resets this."),
  msg('Agents have acted {n} times in a row on this request, so {name} could not route it again. A message from a person resets this.'),
  msg("Agents' messages have started {n} runs since a person last posted, which is the limit. New messages of agents are shown here but start no runs. A message from a person resets this."),
].map((text) => ({ text: text as string, pattern: new RegExp(`^${text.replace(/[.?]/g, '\\$&').replace(/\{(\w+)\}/g, '(?<$1>.+)')}$`) }))

const translated = t as (text: string, values: Readonly<Record<string, string | number>>) => string

/** The text of a notice in the language of the app. */
export function noticeText(posted: string): string {
  for (const { text, pattern } of NOTICES) {
    const found = pattern.exec(posted)?.groups
    if (found) return translated(text, { ...found, ...(found['n'] ? { n: Number(found['n']) } : {}) })
  }
  return posted
}
