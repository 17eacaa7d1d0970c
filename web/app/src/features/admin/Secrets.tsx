import { useStore } from '@majlis/client/react'
import { useState, type FormEvent } from 'react'

import { t } from '../../language/words.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmButton } from '../../ui/ConfirmButton.tsx'
import { dot } from '../../ui/format.ts'
import { fullTime } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'

/** API keys and other secrets by name. A value is never shown again; saving a name again replaces it. */
export function Secrets() {
  const { client } = useStore()
  const { data, problem, reload } = useQuery('secrets', () => client.secrets.list())
  const [refused, setRefused] = useState('')
  const attempt = (work: Promise<unknown>) => work.then(() => { setRefused(''); reload() }, (error: Error) => setRefused(error.message))
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const filled = new FormData(form)
    const hosts = String(filled.get('hosts')).split(/[\s,]+/).filter(Boolean)
    const body = { value: String(filled.get('value')), ...(hosts.length > 0 ? { hosts } : {}) }
    void attempt(client.secrets.put(String(filled.get('name')).trim(), body).then(() => form.reset()))
  }
  return (
    <div className="space-y-8">
      <p className="text-ink-soft">{t('Keys are stored encrypted and sent only to their hosts. Use one in the model of an agent as secret:NAME.')}</p>
      {(problem || refused) && <p role="alert" className="text-small text-bad">{problem || refused}</p>}
      <ul aria-label={t('Secrets')} className="divide-y divide-line text-small empty:hidden">
        {data?.map((secret) => (
          <li key={secret.name} className="flex items-center gap-3 py-2">
            <span className="min-w-0 flex-1">
              <span className="block truncate font-mono">secret:{secret.name}</span>
              <span className="block text-ink-soft"><span>{secret.hosts.length > 0 ? secret.hosts.join(', ') : t('Known model providers')}</span>{dot()}{secret.lastUsedAt ? t('Last used {time}', { time: fullTime(secret.lastUsedAt) }) : t('Not used yet')}</span>
            </span>
            <ConfirmButton label={t('Delete {name}', { name: secret.name })} confirm={t('Yes, delete {name}', { name: secret.name })} onConfirm={() => void attempt(client.secrets.delete(secret.name))} />
          </li>
        ))}
      </ul>
      <form className="space-y-3 border-t border-line pt-5" onSubmit={save}>
        <h3 className="text-large">{t('Add or replace a secret')}</h3>
        <label className="block"><span className="mb-1 block text-small font-medium">{t('Name')}</span><input name="name" required maxLength={64} autoComplete="off" placeholder="OPENAI" className="field max-w-sm" /></label>
        <label className="block"><span className="mb-1 block text-small font-medium">{t('Value')}</span><input name="value" type="password" required autoComplete="new-password" className="field max-w-sm" /></label>
        <label className="block"><span className="mb-1 block text-small font-medium">{t('Hosts (optional)')}</span><input name="hosts" autoComplete="off" placeholder="api.example.com, *.example.org" className="field max-w-sm" /></label>
        <Button type="submit" look="primary">{t('Save secret')}</Button>
      </form>
    </div>
  )
}
