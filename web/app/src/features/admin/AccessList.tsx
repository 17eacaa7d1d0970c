import type { Access } from '@majlis/client'
import { useStore } from '@majlis/client/react'

import { msg, t } from '../../language/words.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmButton } from '../../ui/ConfirmButton.tsx'
import { dot } from '../../ui/format.ts'
import { ago, brief, fullTime } from '../../ui/time.ts'

const KINDS: Record<Access['kind'], string> = { token: msg('Token'), session: msg('Browser session'), link: msg('Sign-in link') }

/** Live tokens, sessions and sign-in links of a person or service. Each can be ended, or all at once. */
export function AccessList({ entityId, list, onChange, attempt }: { entityId: string; list: readonly Access[]; onChange: () => void; attempt: (work: Promise<unknown>) => void }) {
  const { client } = useStore()
  if (list.length === 0) return <p className="text-small text-ink-soft">{t('No tokens, sessions or links')}</p>
  return (
    <div className="space-y-3">
      <ul aria-label={t('Tokens, sessions and links')} className="divide-y divide-line text-small">
        {list.map((each) => (
          <li key={each.id} className="flex items-center gap-3 py-1.5">
            <span className="min-w-0 flex-1 wrap-anywhere">
              {each.label ?? t(KINDS[each.kind])}{each.current && ` ${t('(this session)')}`}
              <span className="block text-ink-soft">{each.label ? `${t(KINDS[each.kind])}${dot()}` : ''}<span title={fullTime(each.createdAt)}>{t('Created {time}', { time: ago(each.createdAt) })}</span>{dot()}{each.expiresAt ? <span title={fullTime(each.expiresAt)}>{t('Expires {time}', { time: brief(each.expiresAt) })}</span> : t('Never expires')}</span>
            </span>
            <Button look="bad" onClick={() => attempt(client.access.end(each.id).then(onChange))}>{each.kind === 'token' ? t('Revoke') : t('End')}</Button>
          </li>
        ))}
      </ul>
      {list.length > 1 && <ConfirmButton label={t('End all')} confirm={t('Yes, end all')} onConfirm={() => attempt(client.entities.endAllAccess(entityId, { keepCurrent: true }).then(onChange))} />}
    </div>
  )
}
