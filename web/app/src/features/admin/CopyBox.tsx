import { useState } from 'react'

import { t } from '../../language/words.ts'
import { Button } from '../../ui/Button.tsx'
import { copyText } from '../../ui/copy.ts'

export function CopyBox({ title, text }: { title: string; text: string }) {
  const [copied, setCopied] = useState(false)
  return (
    <div className="rounded-md border border-line bg-paper-low p-3">
      <p className="mb-1 text-small text-ink-soft">{title}</p>
      <div className="flex items-start gap-2">
        <code className="min-w-0 flex-1 font-mono text-tiny break-all">{text}</code>
        <Button onClick={() => void copyText(text).then(() => setCopied(true))}><span aria-live="polite">{copied ? t('Copied') : t('Copy')}</span></Button>
      </div>
    </div>
  )
}
