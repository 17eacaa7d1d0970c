/** GitHub's additions to Markdown, only for reading: `remark-gfm` also brings the code that writes Markdown. */
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm as gfmSyntax } from 'micromark-extension-gfm'
import type { Processor } from 'unified'

export function gfm(this: Processor): void {
  const data = this.data() as { micromarkExtensions?: unknown[]; fromMarkdownExtensions?: unknown[] }
  ;(data.micromarkExtensions ??= []).push(gfmSyntax())
  ;(data.fromMarkdownExtensions ??= []).push(gfmFromMarkdown())
}
