import { memo, useMemo, type AnchorHTMLAttributes, type ImgHTMLAttributes, type ReactElement } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import rehypeSanitize from 'rehype-sanitize'

import { t } from '../../language/words.ts'
import { ErrorBoundary } from '../../ui/ErrorBoundary.tsx'
import { chunksOf } from './chunks.ts'
import { CodeBlock } from './CodeBlock.tsx'
import { gfm } from './gfm.ts'
import { lineBreaks } from './lineBreaks.ts'
import { literalHtml } from './literalHtml.ts'
import { markMentions } from './markMentions.ts'

interface Props {
  text: string
  names: readonly string[]
  me: string
}

const REMARK = [gfm, literalHtml, lineBreaks]

/**
 * Message text as React elements. Three layers keep it safe: HTML becomes text, elements and attributes pass an
 * allow-list, and the content security policy blocks inline scripts.
 */
export const Markdown = memo(function Markdown({ text, names, me }: Props) {
  const chunks = useMemo(() => chunksOf(text), [text])
  return (
    <div className="prose" dir="auto">
      {chunks.map(({ at, text, plain }) => {
        const raw = <p key={at} className="whitespace-pre-wrap">{text}</p>
        return plain ? raw : <ErrorBoundary key={at} fallback={raw}><Parsed text={text} names={names} me={me} /></ErrorBoundary>
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
  // Images become links: loading one would tell its server who reads the message, and when.
  img: ({ src, alt }: ImgHTMLAttributes<HTMLImageElement>) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noopener noreferrer nofollow">{alt || t('Image')}</a>
  ),
  // A wide table scrolls. Without a tab stop, the keyboard could not scroll it.
  table: ({ children }) => <div role="group" tabIndex={0} aria-label={t('Table')} className="table-box"><table>{children}</table></div>,
  code: ({ className, children }) => <code dir="auto" className={className}>{children}</code>,
  pre: ({ children }) => <CodeBlock {...codeOf(children)} />,
  input: ({ checked }) => <span aria-label={checked ? t('Done') : t('Not done')} role="img" className="me-1.5 text-ink-soft">{checked ? '☑' : '☐'}</span>,
}

function codeOf(children: unknown): { code: string; language: string } {
  const { className = '', children: code } = (children as ReactElement<{ className?: string; children?: string }>).props
  return { code: String(code ?? '').replace(/\n$/, ''), language: /language-(\S+)/.exec(className)?.[1] ?? '' }
}
