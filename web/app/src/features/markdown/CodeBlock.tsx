import { useEffect, useState, type ReactNode } from 'react'

import { t } from '../../language/words.ts'
import { copyText } from '../../ui/copy.ts'
import { Copy } from '../../ui/icons.tsx'

export function CodeBlock({ code, language }: { code: string; language: string }) {
  const highlighted = useHighlighted(code, language)
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await copyText(code)
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return (
    <div dir="ltr" className="group/code relative overflow-hidden rounded-md border border-line bg-paper-low">
      <div className="flex h-8 items-center justify-between pe-1 ps-3 text-tiny text-ink-soft">
        <span>{language}</span>
        <button type="button" className="flex items-center gap-1.5 rounded-sm px-2 py-1 hover:bg-hover hover:text-ink" onClick={() => void copy()}>
          <Copy className="size-3.5" />
          <span aria-live="polite">{copied ? t('Copied') : t('Copy')}</span>
        </button>
      </div>
      <pre tabIndex={0} aria-label={language ? t('Code in {language}', { language }) : t('Code')} className="max-h-[28rem] overflow-auto px-3 pb-3 font-mono text-[0.8125rem] leading-relaxed">
        <code>{highlighted ?? code}</code>
      </pre>
    </div>
  )
}

/** The plain code is shown until the highlighter has loaded. */
export function useHighlighted(code: string, language: string): ReactNode {
  const [result, setResult] = useState<{ code: string; node: ReactNode } | null>(null)
  useEffect(() => {
    if (!language || code.length > 20_000) return
    let wanted = true
    void import('./highlightCode.ts').then(({ highlightCode }) => wanted && setResult({ code, node: highlightCode(code, language) }))
    return () => {
      wanted = false
    }
  }, [code, language])
  return result?.code === code ? result.node : null
}
