import type { Message } from '@majlis/client'

import { t } from '../../language/words.ts'
import { fileNames } from '../files/kinds.ts'

/** A message in one line: its text, or the names of its files. */
export const lineOf = ({ text, files, deletedAt }: Pick<Message, 'text' | 'files' | 'deletedAt'>): string => (deletedAt ? t('Message deleted') : plainText(text) || fileNames(files))

/** Text in one line, without Markdown syntax. */
export function plainText(text: string): string {
  return text
    .slice(0, 400)
    .replace(/```\w*\n?/g, ' ')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^(?:[ \t]*(?:#{1,6}|>+)[ \t]+)+/gm, '')
    .replace(/\|?\s*:?-{3,}:?\s*\|/g, ' ')
    .replace(/\s*\|\s*/g, ' ')
    .replace(/[*`~]{1,3}(?=\S)|(?<=\S)[*`~]{1,3}/g, '')
    // Underscores inside a word stay: read_messages.
    .replace(/(?<![\p{L}\p{N}_])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![\p{L}\p{N}_])/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
}
