import type { PolicyRule } from '@majlis/client'

import { msg, t } from '../language/words.ts'
import { Button, IconButton } from './Button.tsx'
import { Close } from './icons.tsx'

const ACTIONS: Record<PolicyRule['do'], string> = { allow: msg('Allow'), ask: msg('Ask for approval'), deny: msg('Deny') }

export function PolicyEditor({ rules, disabled, onChange }: { rules: readonly PolicyRule[]; disabled: boolean; onChange: (rules: PolicyRule[]) => void }) {
  if (disabled && rules.length === 0) return null
  const change = (n: number, part: Partial<PolicyRule>) => onChange(rules.map((rule, m) => (m === n ? { ...rule, ...part } : rule)))
  return (
    <fieldset disabled={disabled} className="space-y-2">
      <legend className="text-small text-ink-soft">{t('Tool rules')}</legend>
      <p className="text-small text-ink-soft">{t('The first matching rule applies. Tools that match no rule are allowed.')}</p>
      {rules.map((rule, n) => (
        <div key={n} className="flex items-center gap-2">
          <input aria-label={t('Tools for rule {n}', { n: n + 1 })} value={rule.tools} placeholder="deploy, web_*" required className="field font-mono text-small" onChange={(event) => change(n, { tools: event.target.value })} />
          <select aria-label={t('Action for rule {n}', { n: n + 1 })} value={rule.do} className="field w-auto text-small" onChange={(event) => change(n, { do: event.target.value as PolicyRule['do'] })}>
            {Object.entries(ACTIONS).map(([value, name]) => <option key={value} value={value}>{t(name)}</option>)}
          </select>
          <IconButton label={t('Remove rule {n}', { n: n + 1 })} className="size-8" onClick={() => onChange(rules.filter((_, m) => m !== n))}><Close className="size-4" /></IconButton>
        </div>
      ))}
      {!disabled && <Button onClick={() => onChange([...rules, { tools: '', do: 'ask' }])}>{t('Add rule')}</Button>}
    </fieldset>
  )
}
