import { useState } from 'react'

import { t } from '../../language/words.ts'
import { Button } from '../../ui/Button.tsx'
import type { ControlProps } from './Card.tsx'

export function Approval({ busy, onAnswer }: ControlProps) {
  const [comment, setComment] = useState('')
  const answer = (approved: boolean) => onAnswer({ approved, ...(comment.trim() ? { comment: comment.trim() } : {}) })
  return (
    <div className="mt-3 space-y-2">
      <input value={comment} aria-label={t('Add a comment (optional)')} placeholder={t('Add a comment (optional)')} className="field text-small" onChange={(event) => setComment(event.target.value)} />
      <div className="flex gap-2">
        <Button look="primary" disabled={busy} onClick={() => answer(true)}>{t('Approve')}</Button>
        <Button disabled={busy} onClick={() => answer(false)}>{t('Decline')}</Button>
      </div>
    </div>
  )
}
