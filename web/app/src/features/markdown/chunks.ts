/**
 * Splits a long text into chunks that are parsed separately. Markdown parsers take quadratic time, or worse on hostile
 * input; in chunks the time is linear, and while an agent writes only the last chunk is parsed again.
 */

export interface Chunk {
  /** Offset in the text. */
  at: number
  text: string
  /** Too expensive to parse; shown as it is. */
  plain: boolean
}

/** After this many characters a chunk ends at the next paragraph. */
const ENOUGH = 800
/** After this many it ends anywhere, except within a code block, which is cheap to parse. */
const MOST = 4000
/** Link references resolve only within a chunk, so a text with references is split later. */
const MOST_WITH_REFERENCES = 12_000

const REFERENCE = /^ {0,3}\[[^\]\n]+\]:/m
/** Only at the start of a line, where it opens a code block in any context. */
const FENCE = /^(`{3,})[^`]*$|^(~{3,})/
/** Deeply nested lists or quotes: each level costs as much as all levels above it. */
const DEEP = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])[ \t])){10}|^[ \t]{20,}(?:[-*+]|\d{1,9}[.)])[ \t]/m
/** Marks of emphasis and links: the parser pairs each with all before it. People use a few in a paragraph. */
const MARKS = /[*_~[\]]+/g
const MOST_MARKS = 400
const CODE = /^(`{3,}|~{3,})[^]*?(?:^\1|$(?![^]))/gm
/** Very wide tables: every row is padded to the number of columns. */
const WIDE = /^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|){30}/m

export function chunksOf(text: string): Chunk[] {
  if (text.length <= ENOUGH) return [chunk(text, 0)]
  const most = text.length <= MOST_WITH_REFERENCES && REFERENCE.test(text) ? MOST_WITH_REFERENCES : MOST
  const enough = most === MOST ? ENOUGH : most
  const chunks: Chunk[] = []
  let [start, at] = [0, 0]
  let fence: string | null = null
  const cut = (end: number) => {
    if (end > start) chunks.push(chunk(text.slice(start, end), start))
    start = end
  }
  for (const line of text.split(/(?<=\n)/)) {
    const end = at + line.length
    const mark: string | null = markOf(line)
    if (fence !== null) {
      if (closes(line, fence)) {
        fence = null
        if (end - start > enough) cut(end)
      }
    } else if (mark !== null) {
      if (at - start > enough) cut(at)
      fence = mark
    } else {
      if (at - start > enough && endsParagraph(text, at)) cut(at)
      if (end - start > most) cut(at)
      while (end - start > most) cut(wordEnd(text, start, start + most))
    }
    at = end
  }
  cut(text.length)
  return chunks
}

const chunk = (text: string, at: number): Chunk => ({ at, text, plain: DEEP.test(text) || WIDE.test(text) || isDense(text) })

const isDense = (text: string): boolean => text.length > MOST_MARKS && (text.replace(CODE, '').match(MARKS)?.length ?? 0) > MOST_MARKS

function markOf(line: string): string | null {
  const found = FENCE.exec(line.trimEnd())
  return found?.[1] ?? found?.[2] ?? null
}

function closes(line: string, fence: string): boolean {
  const mark = line.trim()
  return mark.length >= fence.length && mark === fence[0]!.repeat(mark.length)
}

/** A paragraph ends here, and the next line does not continue a list item. */
const endsParagraph = (text: string, at: number): boolean => text.slice(Math.max(0, at - 2), at) === '\n\n' && !/\s/.test(text[at] ?? ' ')

function wordEnd(text: string, start: number, end: number): number {
  const space = text.lastIndexOf(' ', end)
  return space > start ? space + 1 : end
}
