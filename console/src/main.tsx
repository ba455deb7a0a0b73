/**
 * The entry of the console: applies the theme, finds the API beside the page, draws the pages.
 */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import './theme/tokens.css';
import './theme/base.css';
import './ui/controls.css';
import './layout/layout.css';
import { applyTheme, storedTheme } from './theme/theme.js';

applyTheme(storedTheme());
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no #root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
