/** A message in one line: its words without the marks of Markdown. */

export function plainText(text: string): string {
  return text
    .slice(0, 400)
    .replace(/```\w*\n?/g, ' ')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(^|\s)[#>]+\s/g, '$1')
    .replace(/\|?\s*:?-{3,}:?\s*\|/g, ' ')
    .replace(/\s*\|\s*/g, ' ')
    .replace(/[*_`~]{1,3}(?=\S)|(?<=\S)[*_`~]{1,3}/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}
