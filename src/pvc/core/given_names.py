"""Common given names of many countries, used to recognize a person without a label.

When `Captain: Ada` becomes `Captain: Ben`, only the names show that it is about a person; the same
edit of `Topic: Tides` to `Topic: Fares` is not.

Rule 1: months, seasons, virtues, products, programming languages except Ada, and names better known
as places are left out, because two such words need not be people. So are names that start sentences
as ordinary words (`Will`, `Can`).
Rule 2: the list is incomplete. A name that is missing is recognized by its label, if at all.
"""

from __future__ import annotations

_LATIN = """
Aaliyah Aaron Abby Abdul Abdullah Abe Abel Abigail Abraham Ada Adam Addison Adel Adela Adele
Adeline Adil Aditi Aditya Adnan Adrian Adriana Adrien Agata Agathe Agnes Agnieszka Ahmad Ahmed
Ahmet Aidan Aiden Aiko Aileen Aimee Aino Aisha Aiyana Akash Akemi Akiko Akio Akira Alain Alan Alana
Alba Albert Alberto Aldo Alec Alejandra Alejandro Aleksander Aleksandra Aleksi Alena Alessandra
Alessandro Alessia Alessio Alex Alexander Alexandra Alexandre Alexei Alexey Alexis Alfie Alfonso
Alfred Alfredo Ali Alice Alicia Alina Alisa Alison Allan Allen Allison Alma Alvaro Alvin Alyssa
Amadou Amal Amalia Amanda Amara Amare Amelia Amelie Amina Aminata Amir Amit Amy Ana Anahit Anand
Ananya Anastasia Anaïs Anders Andre Andrea Andreas Andrei Andrej Andrew Andrey Andrzej André Andrés
Andy Angela Angelica Angelika Angelina Angelo Angus Anika Anil Anita Anja Anjali Anke Ann Anna
Annabel Annalena Anne Anneke Annette Annika Ansel Anthony Antje Antoine Anton Antonella Antonia
Antonio Anya Aoife Archie Ari Ariana Arianna Arjun Arlene Armando Arnav Arne Arnold Aroha Arthur
Artur Arturo Arun Arvid Asa Asger Asha Ashish Ashley Ashok Asif Aslan Astrid Atsuko Audrey Auguste
Augusto Aurélie Ava Avery Aviv Axel Aya Ayaan Ayako Ayan Ayesha Ayla Ayşe Aziz Babak Babette Bakari
Baptiste Barbara Barnaby Barry Bartek Bartosz Bas Bashir Bastian Beata Beate Beatrice Beatriz Becky
Bella Ben Benedict Benedikt Benjamin Bennett Benny Benoît Bernadette Bernard Bernardo Bernd
Bernhard Bert Bertha Berthe Beth Bethany Betty Beverly Bianca Bilal Bill Billy Birgit Birgitta
Bjarne Björn Bjørn Blanca Bob Bobby Bogdan Boris Bożena Brad Bradley Brandon Brandy Brenda Brendan
Brent Brett Brian Brianna Bridget Brigitte Britta Brittany Brooke Bruce Bruno Bryan Bryce Burak
Caitlin Caleb Calvin Cameron Camila Camilla Camille Carina Carl Carla Carlo Carlos Carlotta Carly
Carmen Carol Carole Carolin Caroline Carolyn Carsten Casey Caspar Casper Cassie Catalina Catarina
Caterina Catherine Cathy Cecil Cecilia Cecilie Cedric Celeste Celia Celine Chaim Chandra Chantal
Charlene Charles Charlie Charlotte Chen Cheryl Chiara Chidi Chika Chinedu Chioma Chiyo Chloe Chloé
Chris Christa Christel Christelle Christina Christine Christoph Christophe Christopher Ciara Cindy
Claire Clara Clarence Clarissa Claudia Claudine Claudio Clement Clifford Clive Clyde Clémence
Clément Cody Colette Colin Colleen Concepción Connie Connor Conor Conrad Consuelo Cora Cordelia
Corey Corinna Corinne Cornelia Cornelius Cosima Craig Cristian Cristiano Cristina Curtis Cynthia
Cyril Céline Daan Dagmar Dagny Daisuke Damian Damien Dan Dana Dani Daniel Daniela Daniele Danielle
Danilo Danny Dante Daphne Darius Dariusz Darlene Darren Daryl Dave David Davide Deborah Debra Deepa
Deepak Deirdre Delia Delphine Demetrius Denis Denise Dennis Derek Derrick Deshawn Desmond Devin
Diana Diane Diego Dieter Dietmar Dilip Dimitri Dimitrios Dina Dinesh Dirk Divya Dmitri Dmitry
Dolores Dominic Dominik Dominique Donald Donna Dora Doreen Dorian Doris Dorota Dorothea Dorothy
Doug Douglas Duncan Dustin Dwayne Dwight Dylan Eamon Ebba Eddie Edgar Edith Edmund Eduardo Edward
Edwin Eero Effie Egon Eileen Eino Ekaterina Elaine Eldar Eleanor Elena Eleni Eli Elia Elias Elif
Elijah Elin Elina Elisa Elisabeth Elise Eliza Elizabeth Elke Ella Ellen Ellie Elliot Elliott Elmar
Elmer Eloise Elsa Elsbeth Elsie Elvira Emeka Emil Emile Emilia Emiliano Emilie Emilio Emily Emine
Emma Emmanuel Emmett Emre Enrico Enrique Enzo Eric Erica Erich Erik Erika Erin Ernest Ernesto Ernst
Erwin Esra Esteban Estelle Esther Ethan Ethel Eugene Eugenia Eun-ji Eva Evan Evelyn Everett Ewa
Ezra Fabian Fabien Fabio Fabrice Farah Farid Farida Faris Fatih Fatima Fatma Fatou Federica
Federico Felicia Felicitas Felix Femi Ferdinand Fergus Fernanda Fernando Filip Filippa Filippo
Fiona Flavia Flavio Florian Floyd Folake Fran Frances Francesca Francesco Francine Francis
Francisca Francisco Franco Frank Franka Franz Franziska François Françoise Fred Freddie Freddy
Frederic Frederick Frederik Freja Freya Frida Frieda Friedrich Frits Fritz Fumiko Gabriel Gabriela
Gabriele Gabriella Gabrielle Gareth Garry Gary Gaspard Gaurav Gavin Geert Gene Geneviève Geoff
Geoffrey George Georges Georgina Gerald Geraldine Gerard Gerardo Gerd Gerda Gerhard Germaine Gert
Gertrud Gertrude Giacomo Gianluca Gianna Gideon Gilbert Gilberto Gilles Gina Giorgia Giorgio
Giovanna Giovanni Gisela Giulia Giuliano Giulio Giuseppe Gladys Glenda Glenn Gloria Godfrey Gonzalo
Gopal Goran Gordon Graham Greg Gregor Gregory Greta Gretchen Grzegorz Guadalupe Gudrun Guido
Guilherme Guillaume Guillermo Gunnar Gus Gustav Gustavo Gwen Gwendolyn Günter Habib Hadley Haiyan
Hakan Halima Hamid Hamza Hana Hanako Hank Hanna Hannah Hanne Hannes Hans Hansi Harald Hari Haris
Harold Harriet Harrison Harry Haruka Haruki Haruto Harvey Hasan Hassan Hatice Hector Hedda Hedwig
Heidi Heike Heiko Heiner Heinrich Heinz Helen Helena Helene Helga Helle Helmut Hendrik Henk Henning
Henri Henriette Henrik Henry Herbert Herman Hermann Hermine Hideo Hilary Hilda Hilde Hillary Hina
Hiroko Hiroshi Hiroto Hisham Holger Homer Horace Horst Hortense Howard Hubert Huda Hugh Hugo
Humberto Hussein Hye-jin Hüseyin Ian Ibrahim Ichiro Ida Idris Ignacio Igor Ike Ilaria Ilona Ilse
Ilya Imani Imogen Imran Ina Indira Ines Inga Inge Ingeborg Ingmar Ingrid Inés Inês Ioana Ioannis
Ira Irena Irene Irina Irma Isaac Isabel Isabella Isabelle Isaiah Ishaan Isidora Ismail Isolde
Istvan István Ivan Ivana Ivo Iwona Jabari Jacek Jackie Jacob Jacqueline Jacques Jaime Jake Jakob
Jakub Jamal James Jamie Jamila Jana Jane Janet Janice Janina Janine Janis Janne Jared Jarosław
Jasmin Jason Javier Jay Jayden Jean Jeanette Jeanne Jeff Jeffrey Jelena Jenna Jennifer Jenny Jens
Jeremiah Jeremy Jerome Jerry Jesper Jess Jesse Jessica Jessie Jesús Jiho Jill Jim Jimena Jimmy Jin
Jisoo Jitka Jiwoo Jiří Joachim Joan Joana Joanna Joanne Joaquín Jochen Jodie Joe Joel Joey Johan
Johann Johanna Johannes John Johnny Jolanda Jon Jonah Jonas Jonathan Joost Jorge Josef Josefa
Josefina Joseph Josephine Josh Joshua Josie Josip José Joyce Jozef João Juan Juana Juanita Judith
Judy Jukka Jules Julian Juliana Julie Julien Juliet Juliette Julio Julius Junko Justin Justine
Justyna Jutta Jyoti Jörg Jörn Jürgen Kaan Kacper Kai Kaia Kaito Kalle Kamal Kamala Kamil Kamila
Karel Karen Karim Karin Karina Karl Karla Karolina Karsten Kasper Katarina Katarzyna Kate Katelyn
Kathleen Kathrin Kathryn Kathy Katia Katie Katja Katrin Katrina Katya Kavita Kay Kayla Kazuo Keiko
Keith Kelly Kelsey Kelvin Ken Kendra Kenji Kenneth Kenta Kerry Kerstin Kevin Khadija Khaled Khalid
Kiara Kieran Kim Kimberly Kira Kiran Kirk Kirsten Kirsty Kjell Klara Klaus Knut Kofi Kolya Konrad
Konstantin Kostas Kris Krishna Kristen Kristian Kristin Kristina Kristine Krystyna Krzysztof Kunal
Kurt Kwabena Kwame Kyle Kyoko Lachlan Laila Lakshmi Lamar Lana Lara Larissa Larry Lars Lasse Latoya
Laura Lauren Laurence Laurent Lauri Laurie Lavinia Lawrence Layla Lea Leah Leandro Lech Lee Leif
Leila Lena Lene Leni Lennart Lennox Leo Leon Leona Leonard Leonardo Leonie Leonora Leopold Leroy
Leslie Lester Leticia Lev Levi Lewis Li Liam Lidia Liesel Lili Lilian Liliana Lillian Lin Lina
Linda Lindsay Ling Linnea Linus Lionel Lisa Lisbeth Lise Liselotte Liv Livia Liz Lizzie Lloyd Logan
Lois Lola Lorena Lorenz Lorenzo Loretta Lori Lorraine Lotta Lotte Lou Louis Louisa Louise Luana Luc
Luca Lucas Lucia Lucie Lucien Lucinda Lucy Lucía Ludmila Ludwig Luigi Luis Luisa Luise Luiz Lukas
Luke Luther Lydia Lyle Lynn László Léa Léon Mabel Maciej Mackenzie Maddie Madeleine Madhuri Mads
Magda Magdalena Maggie Magnus Mahesh Mahmoud Maike Maja Makoto Malcolm Malena Malgorzata Malik
Malin Malte Mandla Mandy Manfred Manish Manoj Manon Manuel Manuela Mara Marc Marcel Marcela
Marcello Marcelo Marcia Marcin Marco Marcos Marcus Marek Marga Margaret Margareta Margarita Margaux
Margherita Margit Margot Margrit Marguerite Mari Maria Mariah Mariam Mariana Marianne Marie Marieke
Mariko Marilyn Marina Mario Marion Marisa Marisol Marissa Marit Marius Mariusz Marjorie Mark Markus
Marlene Marlon Marsha Marta Marten Martha Martin Martina Martine Marvin Mary Mary-Ann Maryam María
Masako Masha Mason Massimo Mateo Mateusz Mathieu Mathilde Mathis Matilda Matt Matteo Matthew
Matthias Matthieu Mattias Maud Maureen Maurice Mauricio Mauro Max Maxime Maximilian Maxine Maya
Mayumi Małgorzata Megan Mehdi Mehmet Mei Meike Meilin Melanie Melina Melissa Melvin Meredith Merle
Merve Meryem Mette Mia Micah Michael Michaela Michał Michel Michela Michele Michelle Midori Miguel
Mihai Mika Mikael Mike Mikhail Mikko Mila Milena Milica Milo Miloš Milton Mimi Mina Minako Ming
Minh Minji Minjun Mira Miranda Mireille Miriam Mirjam Miroslav Misaki Mitchell Moana Mohamed
Mohammad Mohammed Mohan Moira Moises Molly Mona Monica Monika Monique Morgan Moritz Morten Moshe
Muhammad Murat Muriel Mustafa Myra Myriam Myrtle Naama Nabil Nadia Nadine Nadja Nahla Naima Nanami
Nancy Naoko Naomi Narendra Nasreen Natalia Natalie Natasha Nate Nathalie Nathan Nathaniel Naveen
Navid Neema Neha Neil Nell Nellie Nelly Nelson Neva Neville Ngozi Nia Nicholas Nick Nico Nicola
Nicolas Nicole Nicoletta Niels Nigel Nikhil Nikita Nikolai Nikolas Nikolaus Nils Nina Nino Nisha
Nishant Noa Noah Noam Noel Noelle Nora Norah Norbert Norma Norman Nour Noémie Nuno Nuria Nyasha
Ofelia Oksana Olaf Olav Ole Oleg Olena Olga Oliver Olivia Olivier Olof Olu Omar Onur Ophelia Oren
Orhan Orla Orlando Orson Oscar Oskar Oswald Othmar Otis Otto Ove Owen Oya Pablo Paloma Pam Pamela
Paola Paolo Parvati Pascale Patrice Patricia Patricio Patrick Patrik Patrycja Patty Paul Paula
Paulette Paulina Pauline Paulo Pavel Pawel Paweł Pedro Peggy Pekka Penelope Percy Pernille Perry
Pete Peter Petr Petra Petros Phil Philip Philipp Philippa Philippe Phillip Phoebe Phyllis Pia
Pierre Pieter Pietro Pilar Piotr Pooja Pradeep Prakash Pranav Priscilla Priya Priyanka Pyotr Qasim
Quentin Quincy Quinn Rachel Rafael Rafał Raghav Ragnar Rahel Rahul Raimund Rainer Raisa Raj Raja
Rajesh Ralf Ralph Ramesh Ramona Ramón Randall Randy Rania Raphael Raquel Rashid Rashida Ravi
Raymond Rebecca Rebekka Reggie Regina Reginald Reiko Reinhard Reinhold Remo Renata Renate Renato
Rene René Renée Reto Reuben Reza Rhea Rhoda Rhonda Ricardo Riccardo Richard Rick Ricky Rikke Riku
Riley Rina Rita Rob Robbie Robert Roberta Roberto Rocío Rodney Rodrigo Roger Rohan Rohit Roland
Rolf Romain Roman Ron Ronald Ronan Ronja Ronnie Roope Rosa Rosalie Rosalind Rosanna Roseanne
Rosemarie Rosemary Rosie Ross Roswitha Rowan Roxanne Roy Ruben Rubén Rudi Rudolf Rudy Rufus Rupert
Russell Ruth Ryan Ryo Rémi Sabine Sabrina Sachin Sadie Saeed Sakura Sally Salma Salman Salvatore
Sam Samantha Sami Samir Samira Sammy Samson Samuel Sandeep Sandra Sandro Sandy Sani Sanjay Sanna
Sara Sarah Sarita Sascha Sasha Saskia Satoshi Saul Scott Sean Sebastian Selim Selina Selma Sena
Serena Serge Sergei Sergey Sergio Seth Seung Shanice Shankar Shannon Shari Sharon Shaun Shawn
Sheila Shelby Sheldon Shelly Sherry Shigeru Shinji Shirin Shirley Shota Shreya Sibylle Sidney
Siegfried Sigrid Sigurd Silas Silke Silvia Simon Simona Simone Simran Sindre Siobhan Sipho Slavica
Snezana Solveig Sonia Sonja Sophia Sophie Soraya Spencer Stacey Stacy Stan Stanislav Stanisław
Stanley Stefan Stefania Stefanie Stefano Steffen Stella Stepan Stephanie Stephen Steve Steven
Stuart Stéphane Sudha Sumit Sunil Sunita Susan Susana Susanna Susanne Sushila Susie Suzanne Sven
Svenja Svetlana Sylvain Sylvia Sylvie Szymon Sébastien Søren Tabitha Tadeusz Taiwo Takashi Takeshi
Talia Tamar Tamara Tammy Tania Tanja Tanya Tara Tariq Taro Tatiana Tatsuya Taylor Ted Teddy Terence
Teresa Terry Tess Tessa Thabo Thandi Theo Theodor Theodora Theodore Theresa Thibault Thierry Thijs
Thomas Thorsten Thérèse Tiago Tiffany Tim Timo Timothy Tina Tobias Toby Todd Tom Tomasz Tommaso
Tommy Tomoko Tomás Tomáš Toni Tony Torben Tore Toshiko Traci Tracy Trevor Tristan Trond Trudy
Tsegaye Tyler Tyrone Uche Udo Ugo Ulla Ulrich Ulrike Uma Umberto Uri Ursula Urszula Usha Ute Uwe
Valentin Valentina Valentino Valeria Valerie Valérie Vanessa Vanya Vasco Vasily Veera Vera Verena
Vernon Veronica Veronika Veronique Vicente Vicky Viggo Vijay Vikram Viktor Viktoria Vilma Vincent
Vincenzo Vinod Vivian Viviana Vivien Vivienne Vlad Vladimir Volker Wafa Walid Wallace Walter
Walther Waltraud Wanda Wanjiru Warren Wei Wendy Werner Wesley Wiebke Wiktor Wilbur Wilfred Wilhelm
Willa Willem William Willie Willy Wilma Winifred Winston Wojciech Wolfgang Xander Xavier Xenia
Ximena Xin Yael Yan Yana Yann Yannick Yara Yasmin Yasmine Yasser Yasuko Yelena Yeong Yoko Yosef
Youssef Yuan Yuki Yukio Yuko Yulia Yuna Yuri Yuriko Yusuf Yuto Yves Yvette Yvonne Zachary Zahra
Zainab Zane Zara Zeynep Zhang Zoe Zofia Zoltan Zoltán Zora Zoé Zoë Zsófia Zuzana Özlem Łukasz
"""
_OTHER = """
Άννα Γιάννης Γιώργος Δημήτρης Ελένη Κώστας Μαρία Νίκος Σοφία Александр Алексей Алина Анастасия
Андрей Анна Антон Артём Богдан Борис Вадим Валентина Василий Вера Виктор Виктория Владимир Галина
Дарья Денис Дмитрий Евгений Екатерина Елена Иван Игорь Илья Ирина Кирилл Ксения Лариса Лидия Любовь
Людмила Максим Марина Мария Михаил Надежда Наталья Никита Николай Оксана Олег Олена Ольга Павел
Полина Пётр Роман Светлана Сергей Софья Тарас Татьяна Юлия Юрий Ярослав
"""
GIVEN = frozenset(f"{_LATIN} {_OTHER}".split())


def is_given(word: str) -> bool:
    """Return True for a given name or two joined by a hyphen, also with a possessive `'s`."""
    bare = word.strip("\"'`*_.,;:!?()«»„“”")
    for ending in ("'s", "’s"):
        bare = bare.removesuffix(ending)
    return bare in GIVEN or ("-" in bare and all(part in GIVEN for part in bare.split("-")))
