import { memo, useMemo, type AnchorHTMLAttributes, type ImgHTMLAttributes, type ReactElement } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import rehypeSanitize from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'

import { ErrorBoundary } from '../../ui/ErrorBoundary.tsx'
import { CodeBlock } from './CodeBlock.tsx'
import { lineBreaks } from './lineBreaks.ts'
import { markMentions } from './markMentions.ts'
import { chunksOf } from './chunks.ts'

interface Props {
  text: string
  names: readonly string[]
  me: string
}

const REMARK = [remarkGfm, lineBreaks]

/**
 * Safe by construction: the text becomes React elements, never markup; HTML in it is dropped, what is left passes an
 * allow-list, and the page's policy would run nothing all the same.
 */
export const Markdown = memo(function Markdown({ text, names, me }: Props) {
  const chunks = useMemo(() => chunksOf(text), [text])
  return (
    <div className="prose" dir="auto">
      {chunks.map(({ at, text, plain }) => {
        const asWritten = <p key={at} className="whitespace-pre-wrap">{text}</p>
        return plain ? asWritten : <ErrorBoundary key={at} instead={asWritten}><Parsed text={text} names={names} me={me} /></ErrorBoundary>
      })}
    </div>
  )
})

const Parsed = memo(function Parsed({ text, names, me }: Props) {
  const rehype = useMemo(() => [rehypeSanitize, [markMentions, { names, me }]] as never, [names, me])
  return (
    <ReactMarkdown remarkPlugins={REMARK} rehypePlugins={rehype} components={COMPONENTS} skipHtml>
      {text}
    </ReactMarkdown>
  )
})

const COMPONENTS: Components = {
  a: ({ href, children }: AnchorHTMLAttributes<HTMLAnchorElement>) => (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">{children}</a>
  ),
  // A picture would tell its server who reads this and when.
  img: ({ src, alt }: ImgHTMLAttributes<HTMLImageElement>) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noopener noreferrer nofollow">{alt || 'picture'}</a>
  ),
  pre: ({ children }) => <CodeBlock {...codeOf(children)} />,
  input: ({ checked }) => <span aria-label={checked ? 'done' : 'open'} role="img" className="mr-1.5 text-ink-soft">{checked ? '☑' : '☐'}</span>,
}

function codeOf(children: unknown): { code: string; language: string } {
  const { className = '', children: code } = (children as ReactElement<{ className?: string; children?: string }>).props
  return { code: String(code ?? '').replace(/\n$/, ''), language: /language-(\S+)/.exec(className)?.[1] ?? '' }
}
