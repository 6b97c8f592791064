"""The games. Each knows nothing but itself: rules, features, notations, hand-written heuristics."""

GAMES = {
    "2048": "evallearn.games.twenty_forty_eight:TwentyFortyEight",
    "backgammon": "evallearn.games.backgammon:Backgammon",
    "checkers": "evallearn.games.checkers:Checkers",
    "chess": "evallearn.games.chess:Chess",
    "connect_four": "evallearn.games.connect_four:ConnectFour",
    "matches": "evallearn.games.matches:Matches",
    "othello": "evallearn.games.othello:Othello",
    "pacman": "evallearn.games.pacman:Pacman",
    "pig": "evallearn.games.pig:Pig",
    "three_player_connect": "evallearn.games.three_player_connect:ThreePlayerConnect",
    "tic_tac_toe": "evallearn.games.tic_tac_toe:TicTacToe",
}
"""Those that ship, by name."""
