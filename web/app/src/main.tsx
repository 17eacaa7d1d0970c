import { Store } from '@majlis/client'
import { MajlisProvider } from '@majlis/client/react'
import { createRoot } from 'react-dom/client'

import { App } from './App.tsx'
import { unsent } from './features/composer/outboxStorage.ts'
import { wakeWith } from './features/connection/reconnect.ts'
import './styles/app.css'
import { showSavedTheme } from './theme.ts'
import { Guard } from './ui/ErrorBoundary.tsx'

showSavedTheme()
const store = new Store({ keeping: unsent })
wakeWith(store)
createRoot(document.getElementById('root')!).render(
  <MajlisProvider store={store}>
    <Guard>
      <App />
    </Guard>
  </MajlisProvider>,
)
