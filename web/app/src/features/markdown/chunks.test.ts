import { describe, expect, test } from 'vitest'

import { piecesOf } from './chunks.ts'

const words = (length: number) => 'word '.repeat(Math.ceil(length / 5)).slice(0, length)

describe('a long text in pieces', () => {
  test.each([
    ['short', 'Hello'],
    ['paragraphs', Array.from({ length: 40 }, (_, n) => `${n} ${words(300)}`).join('\n\n')],
    ['one line', words(20_000)],
    ['no spaces', 'x'.repeat(20_000)],
    ['code', `${words(2000)}\n\n\`\`\`js\n${'const a = 1\n\n'.repeat(2000)}\`\`\`\n${words(3000)}`],
    ['code that never ends', `\`\`\`\n${'a\n\n'.repeat(5000)}`],
    ['a list', `- ${words(200)}\n\n  ${words(200)}\n`.repeat(40)],
    ['lines', 'a\n'.repeat(8000)],
  ])('%s: nothing is lost, and only code is longer than it may be', (_, text) => {
    const pieces = piecesOf(text)
    expect(pieces.map((piece) => piece.text).join('')).toBe(text)
    expect(pieces.map((piece) => text.slice(piece.at, piece.at + piece.text.length))).toEqual(pieces.map((piece) => piece.text))
    const long = pieces.filter((piece) => piece.text.length > 4000)
    expect(long.every((piece) => piece.text.includes('```'))).toBe(true)
  })

  test('code stays whole, and what belongs to a list stays in it', () => {
    const code = `\`\`\`js\n${'one()\n\n'.repeat(1000)}\`\`\`\n`
    expect(piecesOf(`${words(1600)}\n\n${code}${words(1600)}`).map((piece) => piece.text)).toContain(code)
    const items = piecesOf(`- ${words(200)}\n\n  more\n`.repeat(12))
    expect(items.every((piece) => piece.text.startsWith('- '))).toBe(true)
  })

  test('a text with references is cut late, so that they are found', () => {
    const text = `${`${words(1000)} [one]\n\n`.repeat(5)}[one]: https://example.org\n`
    expect(piecesOf(text)).toHaveLength(1)
  })

  test('of words that are being written only the last piece changes', () => {
    const text = Array.from({ length: 30 }, (_, n) => `${n} ${words(400)}`).join('\n\n')
    const [before, after] = [piecesOf(text), piecesOf(`${text} and more`)]
    expect(after.slice(0, -1)).toEqual(before.slice(0, -1))
  })

  test.each([
    ['quotes in quotes', `${'>'.repeat(50)} x`, true],
    ['lists in lists', `${'- '.repeat(50)}x`, true],
    ['a very wide table', `|${'a|'.repeat(60)}\n|${'-|'.repeat(60)}\n|a|`, true],
    ['a line', '-'.repeat(80), false],
    ['a quote', '> > a', false],
    ['a table', '| a | b |\n|---|---|\n| 1 | 2 |', false],
  ])('%s', (_, text, plain) => {
    expect(piecesOf(text)[0]!.plain).toBe(plain)
  })
})
