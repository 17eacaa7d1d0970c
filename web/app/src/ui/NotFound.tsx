import { t } from '../language/words.ts'
import { Link } from './Link.tsx'

export function NotFound() {
  return (
    <div className="grid flex-1 place-items-center p-6 text-center">
      <div className="max-w-sm space-y-3">
        <h2 className="text-title">{t('Page not found')}</h2>
        <p className="text-ink-soft">{t('There is nothing at this address. Check the link, or go back to your spaces.')}</p>
        <Link href="/" className="text-link underline underline-offset-4">{t('Back to spaces')}</Link>
      </div>
    </div>
  )
}
