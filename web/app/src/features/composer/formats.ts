/** Markdown for a selection. */
import { msg } from '../../language/words.ts'

export interface Format {
  label: string
  /** Around the selection. */
  around?: string
  /** Before each of its lines. */
  before?: string
}

export const FORMATS: readonly (Format & { sign: string; look: string })[] = [
  { label: msg('Bold'), sign: 'B', look: 'font-semibold', around: '**' },
  { label: msg('Italic'), sign: 'I', look: 'font-serif italic', around: '_' },
  { label: msg('Strikethrough'), sign: 'S', look: 'line-through', around: '~~' },
  { label: msg('Code'), sign: '<>', look: 'font-mono text-tiny', around: '`' },
  { label: msg('Quote'), sign: '”', look: 'font-serif', before: '> ' },
  { label: msg('List'), sign: '•', look: '', before: '- ' },
]

export interface Formatted {
  text: string
  start: number
  end: number
}

/** The changed text, with the same words selected. A format that is there already is removed. */
export function formatted(text: string, start: number, end: number, { around, before }: Format): Formatted {
  if (around) return surrounded(text, start, end, around.length > 1 || !text.slice(start, end).includes('\n') ? around : '```\n')
  const from = text.lastIndexOf('\n', start - 1) + 1
  const lines = text.slice(from, end).split('\n')
  const removes = lines.every((line) => line.startsWith(before!))
  const changed = lines.map((line) => (removes ? line.slice(before!.length) : before + line)).join('\n')
  const shift = removes ? -before!.length : before!.length
  return { text: text.slice(0, from) + changed + text.slice(end), start: Math.max(from, start + shift), end: from + changed.length }
}

function surrounded(text: string, start: number, end: number, opening: string): Formatted {
  const closing = [...opening].toReversed().join('')
  const [head, tail] = [text.slice(0, start), text.slice(end)]
  if (head.endsWith(opening) && tail.startsWith(closing)) {
    return { text: head.slice(0, -opening.length) + text.slice(start, end) + tail.slice(closing.length), start: start - opening.length, end: end - opening.length }
  }
  return { text: head + opening + text.slice(start, end) + closing + tail, start: start + opening.length, end: end + opening.length }
}
